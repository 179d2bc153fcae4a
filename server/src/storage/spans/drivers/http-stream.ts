import type { Readable } from "node:stream";
import { createClient, type ClickHouseClientConfigOptions } from "@clickhouse/client";
import { storageLimits } from "../../limits.ts";
import type { ExportFormat, WriteBytes } from "../span-export.ts";
import { orUnreachable } from "./engine-errors.ts";
import { createQueryGate, exportGate, exportLimitNames, type GateObservers } from "./query-gate.ts";
import type { SpanDatabase } from "./span-database.ts";
import { streamFormats, streamSettings, withSettings } from "./span-database.ts";

/** `SpanDatabase.stream` over HTTP. */
export function createHttpStream(
  server: ClickHouseClientConfigOptions,
  observers: GateObservers,
): { stream: SpanDatabase["stream"]; close(): Promise<void> } {
  const client = createClient({
    ...server,
    compression: { request: false, response: false },
    max_open_connections: storageLimits.exportsInFlight,
    request_timeout: storageLimits.exportTimeMs + storageLimits.queryReplyGraceMs,
    use_multipart_params_auto: true,
  });
  const withinExports = createQueryGate(exportGate, observers, exportLimitNames);
  return {
    stream: (statement, format, take, signal) =>
      withinExports(statement, signal, async () => {
        const settings = { ...streamSettings(format), ...statement.settings };
        const { stream } = await client
          .exec({
            query: `${withSettings(statement.sql, settings)} FORMAT ${streamFormats[format].name}`,
            query_params: { ...statement.params },
            abort_signal: signal,
          })
          .catch((error: unknown) => {
            throw orUnreachable(error);
          });
        await writeWhole(stream, format, take, signal);
      }),
    close: () => client.close(),
  };
}

/**
 * Passes a streamed response on to `take`. If the server fails in the middle, it appends the error as text and closes
 * normally. So a response is only complete if it ends as a file of its format does.
 */
async function writeWhole(reply: Readable, format: ExportFormat, take: WriteBytes, signal: AbortSignal): Promise<void> {
  let tail = Buffer.alloc(0);
  for await (const piece of reply as AsyncIterable<Buffer>) {
    tail = Buffer.concat([tail, piece.subarray(-tailBytes)]).subarray(-tailBytes);
    await take(piece);
    signal.throwIfAborted();
  }
  if (isWhole[format](tail)) return;
  const code = /Code: (\d+)\. DB::Exception/.exec(tail.toString("latin1"));
  throw new Error(`the span store failed while it wrote an export${code ? `: ${code[0]}` : ""}`);
}

/** Error messages of the engine are shorter. */
const tailBytes = 16 * 1024;
/** Newer servers put their error messages between two of these. */
const exceptionMark = "__exception__\r\n";

const isWhole: Record<ExportFormat, (tail: Buffer) => boolean> = {
  jsonl: (tail) => tail.length === 0 || endsWith(tail, "}\n"),
  csv: (tail) => tail.length === 0 || (endsWith(tail, "\r\n") && !endsWith(tail, exceptionMark)),
  parquet: (tail) => endsWith(tail, "PAR1"),
};

function endsWith(tail: Buffer, text: string): boolean {
  return tail.subarray(-text.length).toString("latin1") === text;
}
