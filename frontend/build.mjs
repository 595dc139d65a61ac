// Builds the one bundle that the page, the notebook and the app share: regard.js (an ES module) and regard.css.
import { build } from "esbuild";

const outdir = process.argv[2] ?? "../src/regard/static";

await build({
  entryPoints: { regard: "src/index.ts" },
  outdir,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
