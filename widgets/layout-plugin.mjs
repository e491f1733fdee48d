// The worker for layouts is built by itself and goes into the module as a text, "layout-source".
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const entry = join(dirname(fileURLToPath(import.meta.url)), "src", "layout-worker.ts");

/** What the module and the worker inside it have in common. */
export const options = {
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  charset: "ascii",
  write: false,
  metafile: true,
  absWorkingDir: dirname(fileURLToPath(import.meta.url)),
  logLevel: "warning",
};

/** The files that the worker was made from, when it was last built. */
export const layoutInputs = [];

export const layoutSource = {
  name: "layout-source",
  setup(plugins) {
    plugins.onResolve({ filter: /^layout-source$/ }, () => ({ path: "layout-source", namespace: "built" }));
    plugins.onLoad({ filter: /.*/, namespace: "built" }, async () => {
      const built = await build({ ...options, entryPoints: [entry] });
      layoutInputs.splice(0, layoutInputs.length, ...Object.keys(built.metafile.inputs));
      return { contents: built.outputFiles[0].text, loader: "text" };
    });
  },
};
