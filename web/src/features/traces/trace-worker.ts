import { readTrace, transferOf } from "./model/trace-model.ts";

const decoder = new TextDecoder();
let text = "";

/**
 * Parses one trace in a worker, from chunks that end with null: parsing 30 MB on the page would block it for a third of
 * a second.
 */
addEventListener("message", ({ data }: MessageEvent<Uint8Array | null>) => {
  if (data !== null) {
    text += decoder.decode(data, { stream: true });
    return;
  }
  const model = readTrace(text + decoder.decode());
  postMessage(model, { transfer: transferOf(model) });
});
