import { Session } from "chdb";
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
  const result = await sqlSession().queryBindAsync(request.sql, params ?? {}, { format: "JSONEachRow" });
  const rows = result
    .text()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
  return { ms: performance.now() - started, rows: rows.length };
};

let session: Session | undefined;
function sqlSession(): Session {
  if (config.spans.kind !== "chdb") throw new Error("the side door is for the embedded store");
  session ??= new Session(config.spans.path);
  return session;
}

process.on("message", (request: ServerRequest) => {
  void answer(request).then((reply) => process.send?.(reply));
});
process.send?.({ url: app.url });
