// Builds the two bundles, each an ES module and a style sheet: regard.js, which the saved page and the notebook carry,
// and app.js, the same views with a server behind them.
import { build } from "esbuild";

const outdir = process.argv[2] ?? "../src/regard/static";

await build({
  entryPoints: { regard: "src/index.ts", app: "src/serve/index.tsx" },
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
