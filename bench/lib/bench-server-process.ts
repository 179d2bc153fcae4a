import { Session } from "chdb";
import { startApp } from "../../server/src/app.ts";
import { readConfig } from "../../server/src/config/config.ts";
import { openSpanDatabase, type SpansLocation } from "../../server/src/storage/spans/clickhouse-span-store.ts";
import { createLogger, openLogOutput } from "../../server/src/telemetry/logger.ts";
import type { ServerReply, ServerRequest } from "./bench-server.ts";

const config = readConfig();
const app = await startApp({ config, logger: createLogger(config.logLevel, openLogOutput()) });

const answer = async (request: ServerRequest): Promise<ServerReply> => {
  if (request.kind === "memory") {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { ms: 0, rssBytes: rss, heapBytes: heapUsed };
  }
  if (request.kind === "cpu") {
    const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];
    return { ms: 0, mainThreadMs: (thread.user + thread.system) / 1000, processMs: (all.user + all.system) / 1000 };
  }
  if (request.kind === "stop") {
    await app.stop();
    process.exit(0);
  }
  const { params } = request;
  const started = performance.now();
  const rows = await runSql(request.sql, params ?? {});
  return { ms: performance.now() - started, rows };
};

/** As a user of the engine would query it: by the package alone, or over HTTP. */
const runSql = sqlOf(config.spans);
function sqlOf(spans: SpansLocation): (sql: string, params: Record<string, string>) => Promise<number> {
  if (spans.kind === "chdb") {
    let session: Session | undefined;
    return async (sql, params) => {
      session ??= new Session(spans.path);
      const text = (await session.queryBindAsync(sql, params, { format: "JSONEachRow" })).text();
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown])).length;
    };
  }
  const database = openSpanDatabase(spans);
  return async (sql, params) => (await database.query({ name: "bench", sql, params })).rows.length;
}

process.on("message", (request: ServerRequest) => {
  void answer(request).then((reply) => process.send?.(reply));
});
process.send?.({ url: app.url });
