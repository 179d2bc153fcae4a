import { readTrace, type TraceModel } from "./model/trace-model.ts";

/** The body of a response. */
export type TraceBody = ReadableStream<Uint8Array<ArrayBuffer>> | null;

const unreadable = "The trace could not be read.";

/** Smaller responses parse faster than a worker starts. */
const largeBytes = 512 * 1024;

/** Parses the response of a trace route, a large one without blocking the page. */
export async function parseTrace(body: TraceBody, signal: AbortSignal): Promise<TraceModel> {
  if (body === null) throw new Error(unreadable);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = body.getReader();
  let bytes = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value);
    bytes += read.value.length;
    if (bytes >= largeBytes) return await parseBeside(pieces, reader, signal);
  }
  return readTrace(await new Blob(pieces).text());
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

/** Parses in a worker, which starts while the response is still arriving. */
async function parseBeside(start: Uint8Array<ArrayBuffer>[], reader: Reader, signal: AbortSignal): Promise<TraceModel> {
  const worker = new Worker(new URL("./trace-worker.ts", import.meta.url), { type: "module" });
  const send = (piece: Uint8Array<ArrayBuffer>) => worker.postMessage(piece, [piece.buffer]);
  const sendAll = async () => {
    for (const piece of start) send(piece);
    for (let read = await reader.read(); !read.done; read = await reader.read()) send(read.value);
    worker.postMessage(null);
  };
  const answer = new Promise<TraceModel>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    worker.addEventListener("message", ({ data }: MessageEvent<TraceModel>) => resolve(data));
    worker.addEventListener("error", ({ message }) => reject(new Error(message || unreadable)));
  });
  try {
    const [model] = await Promise.all([answer, sendAll()]);
    return model;
  } finally {
    worker.terminate();
  }
}
