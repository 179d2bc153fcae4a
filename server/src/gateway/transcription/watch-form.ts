import { boundaryOf, readPart } from "../../lib/multipart.ts";
import { gatewayLimits } from "../limits.ts";

const headEnd = Buffer.from("\r\n\r\n");

/**
 * Reports the fields of a form while it arrives, so that a bad field is refused before a large file has arrived. Skips
 * files; errors are left to the reader of the whole form.
 * @param onField called with each complete field
 */
export function watchForm(contentType: string, onField: (name: string, text: string) => void): (chunk: Buffer) => void {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return () => undefined;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter of a body lacks its leading line break.
  let held: Buffer = Buffer.from("\r\n");
  let isWithin = false;
  let isOver = false;

  /** Consumes what is complete. False if more bytes are needed. */
  const step = (): boolean => {
    const end = held.indexOf(delimiter);
    if (!isWithin) {
      // Of a preamble or a file, keep only as many bytes as the beginning of a delimiter may have.
      held = held.subarray(end === -1 ? Math.max(0, held.length - delimiter.length + 1) : end + delimiter.length);
      isWithin = end !== -1;
      return isWithin;
    }
    if (held.subarray(0, 2).toString("latin1") === "--") return stop();
    const bodyAt = held.indexOf(headEnd) + headEnd.length;
    if (bodyAt < headEnd.length) return held.length > gatewayLimits.formFieldBytes ? stop() : false;
    const part = partOf(held.subarray(0, end === -1 ? held.length : end));
    if (part === undefined) return stop();
    const isFile = part.fileName !== undefined;
    if (end === -1 && !isFile) return held.length > gatewayLimits.formFieldBytes ? stop() : false;
    if (!isFile) onField(part.name, part.bytes.toString("utf8"));
    // The delimiter, if it has arrived, ends this part and begins the next.
    isWithin = false;
    if (end === -1) held = held.subarray(bodyAt);
    return true;
  };
  const stop = (): false => {
    isOver = true;
    held = Buffer.alloc(0);
    return false;
  };

  return (chunk) => {
    if (isOver) return;
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (!isOver && step());
    // Copies the small remainder, which would otherwise retain the whole chunk.
    if (!isOver) held = Buffer.from(held);
  };
}

function partOf(bytes: Buffer): ReturnType<typeof readPart> {
  try {
    return readPart(bytes);
  } catch {
    return undefined;
  }
}
