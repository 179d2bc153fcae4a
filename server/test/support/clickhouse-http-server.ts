import { fork } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A ClickHouse server for tests: chDB in a separate process, behind the part of ClickHouse's HTTP interface that `@clickhouse/client` uses.
 * `faults` makes it fail.
 */
export type TestClickHouse = {
  url: string;
  pid: number | undefined;
  /** Applies to later requests. Absent members switch the fault off. */
  setFaults(faults: ServerFaults): Promise<void>;
  stop(): Promise<void>;
};

export type ServerFaults = {
  /** Responds 503 without running anything, or drops the connection. */
  refuse?: "503" | "reset";
  /** Runs the next `count` inserts, then drops the connection instead of responding. */
  dropInsertReplies?: number;
  /** Aborts streamed responses after their first piece: with an error message in the response, as a server does, or without. */
  breakStreams?: "exception" | "reset";
  /** Lowers the memory limit of statements over spans that set one. */
  memoryBytes?: number;
  /** Waits before it runs a statement. */
  delayMs?: number;
};

export type ServerMessage = { type: "listening"; port: number } | { type: "faults-set" };

/** @param kind `cluster`: two shards, as `main`, see clickhouse-cluster.ts */
export async function startTestClickHouse(kind: "server" | "cluster" = "server"): Promise<TestClickHouse> {
  const folder = mkdtempSync(join(tmpdir(), "spanway-clickhouse-"));
  const child = fork(join(import.meta.dirname, "clickhouse-http-server-process.ts"), [folder, kind], {
    env: { ...process.env, UV_THREADPOOL_SIZE: "16" },
    execArgv: [],
  });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the test server ended with ${code}`);
  });
  ended.catch(() => undefined);
  const nextMessage = async (): Promise<ServerMessage> => {
    const [message] = (await Promise.race([once(child, "message"), ended])) as [ServerMessage];
    return message;
  };
  const started = await nextMessage();
  if (started.type !== "listening") throw new Error("the test server said something else than where it listens");
  return {
    url: `http://127.0.0.1:${started.port}`,
    pid: child.pid,
    setFaults: async (faults) => {
      child.send(faults);
      await nextMessage();
    },
    stop: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
