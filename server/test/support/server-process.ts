import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { EnvironmentVariables } from "../../src/config/config.ts";
import { createClient, type TestClient } from "./test-client.ts";
import { testEnvironment, testKeys } from "./test-app.ts";

/** The server as users run it: a separate process, on a data folder that outlives it. For crashes and restarts. */
export type ServerProcess = {
  url: string;
  prod: TestClient;
  child: ChildProcess;
  /** Its output so far. */
  output(): string;
  /** Sends a signal and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<{ code: number | null }>;
};

export function newDataDir(): { path: string; remove(): Promise<void> } {
  const path = mkdtempSync(join(tmpdir(), "spanway-process-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** The variables that programs started by tests inherit from the environment of the test: none that configures a server. */
export function programEnvironment(): EnvironmentVariables {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

const launcher = new URL("../../run.mjs", import.meta.url).pathname;
/** The arguments of Node that run a program as `npm start` and `npm run admin` do. */
export const programs = { main: [launcher, "main"], admin: [launcher, "admin"] } as const;

/** Resolves once it listens; `SPANWAY_LOG_LEVEL` is `info` there, because its log says where. */
export async function startServerProcess(
  dataDir: string,
  overrides: EnvironmentVariables = {},
): Promise<ServerProcess> {
  const env = { ...programEnvironment(), ...testEnvironment(dataDir, { SPANWAY_LOG_LEVEL: "info", ...overrides }) };
  const child = spawn(process.execPath, [...programs.main], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "exit");
  const listening = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output += `${line}\n`;
      const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const url = await Promise.race([listening, exited.then(() => undefined)]);
  if (url === undefined) throw new Error(`the server did not start:\n${output}`);
  return {
    url,
    prod: createClient(url, testKeys.prod),
    child,
    output: () => output,
    async kill(signal) {
      child.kill(signal);
      const [code] = (await exited) as [number | null];
      return { code };
    },
  };
}

/** Runs one admin command, as typed. @throws Error with its output if it is refused */
export async function runAdminProcess(
  dataDir: string,
  command: readonly string[],
  overrides: EnvironmentVariables = {},
): Promise<string> {
  const env = { ...programEnvironment(), ...testEnvironment(dataDir, overrides) };
  return (await promisify(execFile)(process.execPath, [...programs.admin, ...command], { env })).stdout;
}
