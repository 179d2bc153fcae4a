// Builds the web application; the script `prepare` of the root, so `npm ci` ends with it. JavaScript, because it also has to run
// where only the system's Node is there: with `npm ci --omit=dev` there is nothing to build with, and a container copies the build.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const vite = await import("vite").catch(() => undefined);

if (vite === undefined || !existsSync(`${web}index.html`)) {
  console.log("The web application is not built here: its sources or the development dependencies are missing.");
} else {
  await vite.build({
    root: web,
    configFile: `${web}vite.config.ts`,
    logLevel: process.argv.includes("--quiet") ? "warn" : "info",
  });
}
