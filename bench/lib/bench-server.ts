import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineAllocator } from "../../server/src/storage/spans/drivers/engine-allocator.ts";
import { onMeasuredCore } from "./cores.ts";

/** Requests of the parent to the server's process. */
export type ServerRequest =
  | { kind: "sql"; sql: string; params?: Record<string, string> }
  | { kind: "memory" }
  | { kind: "cpu" }
  | { kind: "stop" };
export type ServerReply = {
  ms: number;
  rows?: number;
  rssBytes?: number;
  heapBytes?: number;
  mainThreadMs?: number;
  processMs?: number;
};

export const benchKey = "bench_key_0123456789";

/** A server in a separate process, with a channel for hand-written SQL on the same table. */
export type BenchServer = {
  url: string;
  /** From the fork to readiness. */
  readyMs: number;
  child: ChildProcess;
  send(request: ServerRequest): Promise<ServerReply>;
  stop(): Promise<void>;
};

export function benchFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "spanway-bench-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export async function startBenchServer(
  dataDir: string,
  environment: Record<string, string> = {},
  { isPinned = false } = {},
): Promise<BenchServer> {
  const started = performance.now();
  const options = ["--expose-gc", "--max-semi-space-size=32"];
  const start = isPinned ? onMeasuredCore(process.execPath, options) : { command: process.execPath, args: options };
  const child = fork(join(import.meta.dirname, "bench-server-process.ts"), [], {
    env: {
      JE_MALLOC_CONF: engineAllocator,
      ...process.env,
      UV_THREADPOOL_SIZE: "16",
      SPANWAY_DATA_DIR: dataDir,
      SPANWAY_PORT: "0",
      SPANWAY_PROD_KEY: benchKey,
      SPANWAY_ORGANIZATION_ID: "org_bench",
      SPANWAY_LOG_LEVEL: "info",
      SPANWAY_BULK_CREATE_PER_MINUTE: "0",
      ...environment,
    },
    execPath: start.command,
    execArgv: start.args,
    // Logging is on, as in production; the output is discarded.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  await untilReady(url);
  const readyMs = performance.now() - started;
  return {
    url,
    readyMs,
    child,
    async send(request) {
      child.send(request);
      const [reply] = (await once(child, "message")) as [ServerReply];
      return reply;
    },
    async stop() {
      const exited = once(child, "exit");
      child.send({ kind: "stop" } satisfies ServerRequest);
      await exited;
    },
  };
}

export async function untilReady(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/readyz?reads=true`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
