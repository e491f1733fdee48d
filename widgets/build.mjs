// Builds the front end into workbench/notebook/static: one ES module, one style sheet, the licenses of
// what the module contains, a manifest. With --check nothing is written: it fails when what is there is
// not what would be built.
//
// The manifest holds a hash of all sources and of all outputs, so that Python can tell without Node
// whether the committed bundle belongs to the sources beside it. No output imports anything: the
// graph layout (Graphviz compiled to WebAssembly) is inside the module.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { layoutInputs, layoutSource, options } from "./layout-plugin.mjs";
import { thirdParty } from "./licenses.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "workbench", "notebook", "static");
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** Every file that the bundle is made from, as sorted paths relative to widgets/. */
function sources() {
  const found = ["src", "licenses"]
    .flatMap((folder) => readdirSync(join(here, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath ?? entry.path, entry.name)));
  return [...found, "build.mjs", "layout-plugin.mjs", "licenses.mjs", "package.json", "package-lock.json", "tsconfig.json"]
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
  banner: { js: "// Built from widgets/ by `npm run build`. Contains other software: see THIRD_PARTY_LICENSES.txt beside this file." },
});
const css = ["stepper.css", "panels.css"].map((name) => readFileSync(join(here, "src", name), "utf8")).join("\n");
const inputs = [...Object.keys(result.metafile.inputs), ...layoutInputs];
const outputs = {
  "stepper.js": result.outputFiles[0].text,
  "stepper.css": css,
  "THIRD_PARTY_LICENSES.txt": thirdParty(here, inputs),
};
const manifest = { sources: sourceHash(), outputs: {} };
for (const [name, text] of Object.entries(outputs)) manifest.outputs[name] = sha256(text);
const files = { ...outputs, "manifest.json": JSON.stringify(manifest, null, 2) + "\n" };

if (process.argv.includes("--check")) {
  const there = (name) => (existsSync(join(target, name)) ? readFileSync(join(target, name), "utf8") : "");
  const stale = Object.keys(files).filter((name) => there(name) !== files[name]);
  if (stale.length) console.error(`not what these sources build: ${stale.join(", ")}; run \`npm run build\``);
  process.exitCode = stale.length ? 1 : 0;
} else {
  mkdirSync(target, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(target, name), text);
    console.log(`${name}  ${(text.length / 1000).toFixed(0)} kB`);
  }
}
