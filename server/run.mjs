// Runs a program of the server, `main` or `admin`: the bundle that `npm ci` built, or the sources where there is no bundle or a source is newer.
import { readdirSync, statSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const [program, ...args] = process.argv.slice(2);
if (program === "--compile") {
  useCompiled();
  for (const file of args) await import(file);
} else {
  const bundle = `${here}dist/${program}.js`;
  const isBundled = isCurrent(bundle);
  if (isBundled) useCompiled();
  const entry = isBundled ? bundle : `${here}src/${program}.ts`;
  // The program finds the arguments where it does when it is run itself.
  process.argv.splice(1, 2, entry);
  await import(entry);
}

/** What V8 made of the bundle is read from files, and completed when the process ends. An older Node goes on to say that it is too old. */
function useCompiled() {
  module.enableCompileCache?.(`${here}dist/compiled`);
}

function isCurrent(bundle) {
  const builtMs = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs;
  if (builtMs === undefined) return false;
  const sources = readdirSync(`${here}src`, { recursive: true, encoding: "utf8" });
  return sources.every((name) => statSync(`${here}src/${name}`).mtimeMs <= builtMs);
}
