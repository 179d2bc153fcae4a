import { readTrace, transferOf } from "./model/trace-model.ts";

/** Reads one trace beside the page: parsing 30 MB there would stop it for a third of a second. */
addEventListener("message", ({ data }: MessageEvent<ArrayBuffer>) => {
  const model = readTrace(data);
  postMessage(model, { transfer: transferOf(model) });
});
