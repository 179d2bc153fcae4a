import { storageLimits } from "../../storage/limits.ts";

/** Whether JSON text is within the size limit of a span. */
export function fitsSpan(json: string): boolean {
  // UTF-8 needs at most three bytes per UTF-16 unit: most texts are known to fit without measuring.
  return json.length * 3 <= storageLimits.spanBytes || Buffer.byteLength(json) <= storageLimits.spanBytes;
}
