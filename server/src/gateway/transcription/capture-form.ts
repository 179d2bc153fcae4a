import { boundaryOf, readPart } from "../../lib/multipart.ts";
import { gatewayLimits } from "../limits.ts";

const headEnd = Buffer.from("\r\n\r\n");

/**
 * Reports the fields of a form while it arrives, so that a bad field is refused before a large file has arrived. Skips
 * files; errors are left to the reader of the whole form.
 * @param onField called with each complete field
 */
export function captureForm(
  contentType: string,
  onField: (name: string, text: string) => void,
): (chunk: Buffer) => void {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return () => undefined;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter of a body lacks its leading line break.
  let buffered: Buffer = Buffer.from("\r\n");
  let isWithin = false;
  let isOver = false;

  /** Consumes what is complete. False if more bytes are needed. */
  const step = (): boolean => {
    const end = buffered.indexOf(delimiter);
    if (!isWithin) {
      // Of a preamble or a file, keep only as many bytes as the beginning of a delimiter may have.
      buffered = buffered.subarray(
        end === -1 ? Math.max(0, buffered.length - delimiter.length + 1) : end + delimiter.length,
      );
      isWithin = end !== -1;
      return isWithin;
    }
    if (buffered.subarray(0, 2).toString("latin1") === "--") return stop();
    const bodyAt = buffered.indexOf(headEnd) + headEnd.length;
    if (bodyAt < headEnd.length) return buffered.length > gatewayLimits.formFieldBytes ? stop() : false;
    const part = partOf(buffered.subarray(0, end === -1 ? buffered.length : end));
    if (part === undefined) return stop();
    const isFile = part.fileName !== undefined;
    if (end === -1 && !isFile) return buffered.length > gatewayLimits.formFieldBytes ? stop() : false;
    if (!isFile) onField(part.name, part.bytes.toString("utf8"));
    // The delimiter, if it has arrived, ends this part and begins the next.
    isWithin = false;
    if (end === -1) buffered = buffered.subarray(bodyAt);
    return true;
  };
  const stop = (): false => {
    isOver = true;
    buffered = Buffer.alloc(0);
    return false;
  };

  return (chunk) => {
    if (isOver) return;
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    while (!isOver && step());
    // Copies the small remainder, which would otherwise retain the whole chunk.
    if (!isOver) buffered = Buffer.from(buffered);
  };
}

function partOf(bytes: Buffer): ReturnType<typeof readPart> {
  try {
    return readPart(bytes);
  } catch {
    return undefined;
  }
}
