// The licenses of everything that the bundle contains, as one text that travels with it.
//
// What was bundled is what esbuild says it read. Each such package brings its license file; what was
// compiled into one before it was published is listed in licenses/compiled-in.json, by hand, for one
// version of it: another version has to be looked at again. Its source map says of some what they are.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const RULE = "=".repeat(98);
const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//g;

/** The packages that some files belong to, each once, in order. */
export function packagesOf(paths) {
  const found = paths.flatMap((path) => {
    const names = [...path.replaceAll("\\", "/").matchAll(PACKAGE)];
    return names.length ? [names.at(-1)[1]] : [];
  });
  return [...new Set(found)].sort();
}

/** The license text of a bundle made of some files, which are relative to `root`; throws when one is missing. */
export function thirdParty(root, inputs) {
  const listed = JSON.parse(readFileSync(join(root, "licenses", "compiled-in.json"), "utf8"));
  const sections = packagesOf(inputs).flatMap((name) => section(root, name, listed[name], inputs));
  return [
    "The front end of the grammar workbench (stepper.js, and report pages that contain it) is under the",
    "Apache License, Version 2.0. It contains the software below, under the licenses that follow.",
    "",
    ...sections,
    "",
  ].join("\n");
}

function section(root, name, listed, inputs) {
  const folder = join(root, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  const parts = listed?.parts ?? [];
  if (listed && listed.version !== about.version)
    throw new Error(`licenses/compiled-in.json is about ${name} ${listed.version}, not ${about.version}: see what is in it now`);
  for (const inside of packagesOf(sourcesOf(root, name, inputs)))
    if (inside !== name && !parts.some((part) => part.name === inside))
      throw new Error(`${name} contains ${inside}, which licenses/compiled-in.json does not list`);
  return [
    ...entry(`${name} ${about.version}`, about.license, about.homepage, readFileSync(join(folder, file), "utf8")),
    ...parts.flatMap((part) => {
      const text = readFileSync(join(root, "licenses", part.text), "utf8");
      const title = `${part.name}${part.version ? ` ${part.version}` : ""} (in ${name})`;
      return entry(title, part.license, part.source, `${part.copyright}\n\n${text}`);
    }),
  ];
}

/** What the source maps beside a package's bundled files say that these were made from. */
function sourcesOf(root, name, inputs) {
  const maps = inputs.filter((path) => packagesOf([path])[0] === name).map((path) => join(root, `${path}.map`));
  return maps.filter(existsSync).flatMap((path) => JSON.parse(readFileSync(path, "utf8")).sources);
}

const entry = (title, license, source, text) => [RULE, title, `License: ${license}`, `Source: ${source}`, RULE, "", text.replaceAll("\r\n", "\n").trim(), ""];
