import type { Gzip } from "node:zlib";
import { ServiceError } from "../domain/errors.ts";
import { acceptsGzip, gzipFastStream } from "../http/content-coding.ts";
import type { Context } from "../http/endpoint.ts";
import type { ResponseWriter } from "../http/response-writer.ts";
import { freeBytes } from "../lib/free-bytes.ts";
import { formatTimeNs } from "../lib/time.ts";
import { apiLimits } from "./limits.ts";
import type { ExportFormat, WriteBytes } from "../storage/spans/span-export.ts";
import type { TimeWindow } from "../storage/spans/span-store.ts";

const exportMediaTypes: Readonly<Record<ExportFormat, string>> = {
  jsonl: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
  parquet: "application/vnd.apache.parquet",
};

/** For the API reference. */
export const exportedTable = {
  status: 200,
  contentType: exportMediaTypes.jsonl,
  description: "One JSON object per line",
  alternatives: { [exportMediaTypes.csv]: "With a header line" },
} as const;
export const exportedFile = {
  ...exportedTable,
  alternatives: { ...exportedTable.alternatives, [exportMediaTypes.parquet]: "A Parquet file" },
} as const;

/** `spans-prod-20261101T000000Z-20261129T120000Z.csv` */
export function exportName(
  what: string,
  environment: string | undefined,
  window: TimeWindow,
  format: ExportFormat,
): string {
  const times = [window.fromNs, window.toNs].map((ns) => `${formatTimeNs(ns).slice(0, 19).replace(/[-:]/g, "")}Z`);
  return `${[what, environment ?? "all", ...times].join("-")}.${format}`;
}

/**
 * Responds with a file that `write` produces, at the speed of the client. A failure before the first byte is an error
 * response; later it aborts the connection, so that a part never looks like the whole.
 */
export async function sendExport(
  context: Pick<Context, "headers" | "signal" | "hijack">,
  { name, format }: { name: string; format: ExportFormat },
  write: (take: WriteBytes) => Promise<void>,
): Promise<void> {
  const { headers, signal } = context;
  // Parquet is already compressed.
  const isGzip = format !== "parquet" && acceptsGzip(headers["accept-encoding"]);
  let sink: Sink | undefined;
  const open = (): Sink => {
    if (sink !== undefined) return sink;
    const response = context.hijack();
    response.writeHead(200, {
      "content-type": exportMediaTypes[format],
      "content-disposition": `attachment; filename="${name}"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      ...(isGzip && { "content-encoding": "gzip" }),
    });
    sink = isGzip ? gzipSink(response, signal) : plainSink(response, signal);
    return sink;
  };
  await write((bytes) => open().take(bytes));
  await open().end();
}

type Sink = { take: WriteBytes; end(): Promise<void> };

function plainSink(response: ResponseWriter, signal: AbortSignal): Sink {
  return {
    async take(bytes) {
      signal.throwIfAborted();
      if (response.write(bytes)) return;
      await drained(response, signal);
      freeBytes(bytes);
    },
    async end() {
      response.end();
    },
  };
}

function gzipSink(response: ResponseWriter, signal: AbortSignal): Sink {
  const gzip: Gzip = gzipFastStream();
  gzip.on("data", (bytes: Buffer) => {
    if (response.write(bytes)) return;
    gzip.pause();
    response.once("drain", () => gzip.resume());
  });
  signal.addEventListener("abort", () => gzip.destroy(), { once: true });
  return {
    async take(bytes) {
      signal.throwIfAborted();
      if (gzip.write(bytes)) return;
      await drained(gzip, signal);
      freeBytes(bytes);
    },
    async end() {
      // A stream that is already closed emits no further close event.
      signal.throwIfAborted();
      const ended = new Promise<void>((resolve, reject) => {
        gzip.once("end", resolve);
        gzip.once("close", () => reject(signal.reason as Error));
      });
      gzip.end();
      await ended;
      response.end();
    },
  };
}

/** @throws the signal's reason, or ServiceError if nothing is read for `apiLimits.exportStallMs` */
async function drained(
  stream: { once(event: "drain", listener: () => void): unknown },
  signal: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const settle = (end: () => void) => () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      end();
    };
    const onAbort = settle(() => reject(signal.reason as Error));
    const stalled = new ServiceError("unavailable", "the client took nothing for too long");
    const timer = setTimeout(
      settle(() => reject(stalled)),
      apiLimits.exportStallMs,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    stream.once("drain", settle(resolve));
  });
}
