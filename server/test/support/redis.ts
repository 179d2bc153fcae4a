import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "./free-port.ts";

const program = ["valkey-server", "redis-server"].find((name) => spawnSync(name, ["--version"]).status === 0);

export const hasRedis = program !== undefined;
export const redisSkipReason = hasRedis
  ? ""
  : " (skipped: there is no redis-server, scripts/test-services.sh installs one)";

/** A separate Redis or Valkey, which a test may stop. It stores nothing on disk: after a restart it is empty. */
export type OwnRedis = {
  url: string;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export async function startOwnRedis(): Promise<OwnRedis> {
  if (program === undefined) throw new Error("there is no redis-server");
  const [folder, port] = [mkdtempSync(join(tmpdir(), "spanway-redis-")), await freePort()];
  const options = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--save", "", "--appendonly", "no"];
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(program, options, { stdio: "ignore" });
    const client = new Redis(port, "127.0.0.1", { retryStrategy: () => 50, maxRetriesPerRequest: 100 });
    client.on("error", () => undefined);
    await client.ping();
    client.disconnect();
  };
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    child = undefined;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void child?.kill(name),
    kill,
    start,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
