import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Runs the server and Vite together: both restart or reload when their sources change, and both end with this process.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const port = process.env["SPANWAY_PORT"] || "8787";
const env = { ...process.env, DEV_SERVER_URL: `http://127.0.0.1:${port}` };

const start = (...args: string[]): ChildProcess =>
  spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"] });

const children = [
  start("--watch-path=server/src", "--watch-preserve-output", "--max-semi-space-size=32", "server/src/main.ts"),
  start("node_modules/vite/bin/vite.js", "web"),
];

let isEnding = false;
function end(code: number): void {
  if (isEnding) return;
  isEnding = true;
  for (const child of children) child.kill("SIGTERM");
  process.exitCode = code;
}

for (const child of children) child.once("exit", (code) => end(code ?? 1));
process.once("SIGINT", () => end(0)).once("SIGTERM", () => end(0));
