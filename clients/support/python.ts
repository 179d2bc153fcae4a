import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";

export const hasPython = spawnSync("python3", ["-c", "import venv, ensurepip"]).status === 0;

/** Installs `clients/requirements.txt` beside the packages of Node, and returns the interpreter. */
export async function installPython(): Promise<string> {
  const run = promisify(execFile);
  const clients = new URL("..", import.meta.url).pathname;
  const folder = `${clients}node_modules/.python`;
  await run("python3", ["-m", "venv", folder]);
  const interpreter = `${folder}/bin/python`;
  await run(interpreter, ["-m", "pip", "install", "--quiet", "--requirement", `${clients}requirements.txt`]);
  return interpreter;
}
