// Builds the web application; the root's `prepare` script runs it, so `npm ci` ends with it. JavaScript, because it
// must also run with only the system's Node: with `npm ci --omit=dev` the build tools are missing, and a container
// copies the build.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const vite = await import("vite").catch(() => undefined);

if (vite === undefined || !existsSync(`${web}index.html`)) {
  console.log("The web application cannot be built here: its sources or the development dependencies are missing.");
} else {
  await vite.build({
    root: web,
    configFile: `${web}vite.config.ts`,
    logLevel: process.argv.includes("--quiet") ? "warn" : "info",
  });
}
