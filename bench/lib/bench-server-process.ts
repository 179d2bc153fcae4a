import { createClient } from "@clickhouse/client";
import { createChdbConnection } from "chdb/connection";
import { startApp } from "../../server/src/app.ts";
import { readConfig } from "../../server/src/config.ts";
import { createLogger, openLogOutput } from "../../server/src/telemetry/logger.ts";
import type { ServerReply, ServerRequest } from "./bench-server.ts";

const config = readConfig();
const app = await startApp({ config, logger: createLogger(config.logLevel, openLogOutput()) });

const answer = async (request: ServerRequest): Promise<ServerReply> => {
  if (request.ask === "memory") {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { ms: 0, rssBytes: rss, heapBytes: heapUsed };
  }
  if (request.ask === "cpu") {
    const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];
    return { ms: 0, mainThreadMs: (thread.user + thread.system) / 1000, processMs: (all.user + all.system) / 1000 };
  }
  if (request.ask === "stop") {
    await app.stop();
    process.exit(0);
  }
  const { params } = request;
  const started = performance.now();
  const result = await sqlClient().query({
    query: request.sql,
    format: "JSONEachRow",
    ...(params && { query_params: params }),
  });
  const rows = await result.json();
  return { ms: performance.now() - started, rows: rows.length };
};

let client: ReturnType<typeof createClient> | undefined;
function sqlClient(): ReturnType<typeof createClient> {
  if (config.spans.kind !== "chdb") throw new Error("the side door is for the embedded store");
  const connection: unknown = createChdbConnection({ path: config.spans.path });
  client ??= createClient({ connection } as Parameters<typeof createClient>[0]);
  return client;
}

process.on("message", (request: ServerRequest) => {
  void answer(request).then((reply) => process.send?.(reply));
});
process.send?.({ url: app.url });
