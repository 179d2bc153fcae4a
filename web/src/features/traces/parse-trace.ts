import { readTrace, type TraceModel } from "./model/trace-model.ts";

/** To start a worker takes longer than to read less than this. */
const largeBytes = 512 * 1024;

/** Reads the answer of a route of traces, a large one without stopping the page. */
export async function parseTrace(bytes: ArrayBuffer, signal: AbortSignal): Promise<TraceModel> {
  if (bytes.byteLength < largeBytes) return readTrace(bytes);
  const worker = new Worker(new URL("./trace-worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise<TraceModel>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      worker.addEventListener("message", ({ data }: MessageEvent<TraceModel>) => resolve(data));
      worker.addEventListener("error", ({ message }) => reject(new Error(message || "The trace could not be read.")));
      worker.postMessage(bytes, [bytes]);
    });
  } finally {
    worker.terminate();
  }
}
