// Builds the front end into workbench/notebook/static: one ES module, one style sheet, a manifest.
//
// The manifest holds a hash of all sources and of both outputs, so that Python can tell without Node
// whether the committed bundle belongs to the sources beside it. No output imports anything: the
// graph layout (Graphviz compiled to WebAssembly) is inside the module.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { layoutSource, options } from "./layout-plugin.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "workbench", "notebook", "static");
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** Every file that the bundle is made from, as sorted paths relative to widgets/. */
function sources() {
  const found = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath ?? entry.path, entry.name)));
  return [...found, "build.mjs", "layout-plugin.mjs", "package.json", "package-lock.json", "tsconfig.json"]
    .map((path) => path.replaceAll("\\", "/"))
    .sort();
}

/** Hash over "path, newline, hash of content, newline" of every source. */
function sourceHash() {
  const lines = sources().map((path) => `${path}\n${sha256(readFileSync(join(here, path)))}\n`);
  return sha256(lines.join(""));
}

const result = await build({
  ...options,
  entryPoints: { stepper: join(here, "src", "index.ts") },
  outdir: target,
  plugins: [layoutSource],
  banner: { js: "// Built from widgets/ by `npm run build`. Contains @hpcc-js/wasm-graphviz (Apache-2.0) and Graphviz (EPL-2.0)." },
});
const css = ["stepper.css", "panels.css"].map((name) => readFileSync(join(here, "src", name), "utf8")).join("\n");
const outputs = { "stepper.js": result.outputFiles[0].text, "stepper.css": css };

mkdirSync(target, { recursive: true });
const manifest = { sources: sourceHash(), outputs: {} };
for (const [name, text] of Object.entries(outputs)) {
  writeFileSync(join(target, name), text);
  manifest.outputs[name] = sha256(text);
  console.log(`${name}  ${(text.length / 1000).toFixed(0)} kB`);
}
writeFileSync(join(target, "manifest.json"), JSON.stringify(manifest, null, 2) + "\n");
