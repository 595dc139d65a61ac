// Builds bundles, each an ES module: regard.js, which notebooks and pages with a walk carry, page.js for pages without
// one, app.js, the same views with a server behind them; their style sheets; and two scripts: joint.js for the pages of
// heads, film.js for films of training. Each begins with the licences of the packages it contains.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const outdir = process.argv[2] ?? "../src/regard/static";

const shared = {
  outdir,
  bundle: true,
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none", // whole licences are put at the head instead
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
  metafile: true,
  write: false,
};
const modules = await build({
  ...shared,
  entryPoints: { regard: "src/index.ts", page: "src/page.ts", app: "src/app/index.tsx" },
  format: "esm",
});
// Inside a page there are no modules: these are scripts.
const scripts = await build({
  ...shared,
  entryPoints: { joint: "src/joint/index.ts", film: "src/film/index.tsx" },
  format: "iife",
});
const outputFiles = [...modules.outputFiles, ...scripts.outputFiles];
const outputs = { ...modules.metafile.outputs, ...scripts.metafile.outputs };

// Python's list of views: the ids of the registry that the page loops over.
const registry = await build({
  entryPoints: ["src/views/index.ts"],
  bundle: true,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".css": "empty" },
  write: false,
});
const source = Buffer.from(registry.outputFiles[0].contents).toString("base64");
const { VIEWS } = await import(`data:text/javascript;base64,${source}`);

const byName = (one, other) => (one.name < other.name ? -1 : 1);

mkdirSync(outdir, { recursive: true });
for (const { path, text } of outputFiles) writeFileSync(path, notices(basename(path)) + text);
writeFileSync(join(outdir, "views.json"), `${JSON.stringify(VIEWS.map(({ id }) => id))}\n`);

/** A comment with the name, version and licence of every package in a bundle; packages of one licence text together. */
function notices(name) {
  const [, output] = Object.entries(outputs).find(([path]) => basename(path) === name);
  const folders = Object.keys(output.inputs).map(
    (path) => path.match(/.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0],
  );
  const byText = new Map();
  for (const { name, version, license, text } of [...new Set(folders)]
    .filter(Boolean)
    .map(terms)
    .sort(byName))
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  if (!byText.size) return "";
  const parts = [...byText].map(([text, packages]) => `${packages.join(", ")}\n\n${text}`);
  return `/*! This file contains:\n\n${parts.join("\n\n----\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

function terms(folder) {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new Error(`${about.name} has no licence file; its terms cannot be passed on`);
  return { ...about, text: readFileSync(join(folder, file), "utf8").trim() };
}
