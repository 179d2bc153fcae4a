// Bundles the server's sources with the packages that are plain JavaScript: a start then reads a few files instead of two thousand.
// Part of the script `prepare`, so `npm ci` ends with it. JavaScript, because it also has to run where only the system's Node is there:
// with `npm ci --omit=dev` there is nothing to build with, and the sources run instead.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(new URL("..", import.meta.url));
const rolldown = await import("rolldown").catch(() => undefined);

if (rolldown === undefined) {
  console.log("The server is not bundled here: the development dependencies are missing. Its sources run as they are.");
} else {
  const dist = `${server}dist`;
  rmSync(dist, { recursive: true, force: true });
  const { output } = await rolldown.build({
    input: {
      main: `${server}src/main.ts`,
      admin: `${server}src/admin.ts`,
      "sandbox-worker": `${server}src/evaluation/sandbox/sandbox-worker.ts`,
    },
    platform: "node",
    // Packages with binaries find them by their own paths.
    external: ["chdb", "lmdb", "pg-native", "quickjs-emscripten", /^@jitl\//],
    logLevel: "warn",
    output: { dir: dist, format: "esm", comments: { legal: true, annotation: false, jsdoc: false } },
  });
  for (const { fileName, code } of output) writeFileSync(`${dist}/${fileName}`, inAscii(code));
  // A start then finds compiled code. Programs would run when they are imported; the modules that they share are nearly all of their code.
  const shared = output.filter(({ isEntry }) => !isEntry).map(({ fileName }) => `${dist}/${fileName}`);
  if (module.enableCompileCache !== undefined)
    execFileSync(process.execPath, [`${server}run.mjs`, "--compile", ...shared], { stdio: "inherit" });
}

/** A process keeps the text of what it runs, at two bytes per character if one of them is not Latin-1: that took 9 MB. */
function inAscii(code) {
  // There, an escape would mean something else.
  const literal = /\\[^\0-\x7f]|\braw\s*`[^`]*[^\0-\x7f]/.exec(code);
  if (literal !== null) throw new Error(`The bundle cannot be written in ASCII: ${literal[0].slice(-80)}`);
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
