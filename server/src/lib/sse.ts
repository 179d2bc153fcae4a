/**
 * Server-sent events out of bytes that were cut anywhere, as the HTML standard has them: lines end in LF, CR LF or CR,
 * a blank line ends an event.
 */

export type SseEvent = {
  /** `event:`, empty where none is given. */
  name: string;
  /** The lines of `data:`; `undefined` for a block without any, such as a comment that keeps the connection alive. */
  data: string | undefined;
  /** The block as it came. The blocks of a stream, joined, are the stream; the LF of a last CR LF may open the next block. */
  raw: Buffer;
};

export type SseSplitter = {
  /** The blocks that these bytes complete. Throws `SseBlockTooLong` once, after which the splitter is of no more use. */
  push(bytes: Buffer): SseEvent[];
  /** The bytes of a block that was not completed, which is no event; empty where the stream ended well. */
  rest(): Buffer;
};

/** Thrown for a block that is longer than the bound: nothing will be made of it. */
export class SseBlockTooLong extends Error {
  constructor(maxBytes: number) {
    super(`an event of more than ${maxBytes} bytes`);
    this.name = "SseBlockTooLong";
  }
}

const lf = 0x0a;
const cr = 0x0d;
const space = 0x20;

export function createSseSplitter(maxBlockBytes: number): SseSplitter {
  let pending: Buffer = Buffer.alloc(0);
  // Where in `pending` the search goes on, so that no byte is looked at twice.
  let at = 0;
  let isLineEmpty = true;
  let isAfterCr = false;
  // Streams of models hold no CR: their lines are found by the engine's own search.
  let mayHoldCr = false;

  /** The end of the first block, or -1 where it is not complete. */
  const findEnd = (): number => {
    while (at < pending.length) {
      const byte = pending[at];
      at += 1;
      if (byte === lf && isAfterCr) {
        isAfterCr = false;
        continue;
      }
      isAfterCr = byte === cr;
      if (byte !== lf && byte !== cr) {
        isLineEmpty = false;
        if (mayHoldCr) continue;
        const lineEnd = pending.indexOf(lf, at);
        at = lineEnd === -1 ? pending.length : lineEnd;
      } else if (isLineEmpty) {
        // The LF of this CR LF is of this block if it is there already.
        if (isAfterCr && pending[at] === lf) {
          at += 1;
          isAfterCr = false;
        }
        return at;
      } else isLineEmpty = true;
    }
    return -1;
  };

  return {
    push: (bytes) => {
      mayHoldCr = bytes.includes(cr) || (mayHoldCr && (pending.length > 0 || isAfterCr));
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      const events: SseEvent[] = [];
      for (let end = findEnd(); end !== -1; end = findEnd()) {
        events.push(readBlock(pending.subarray(0, end)));
        pending = pending.subarray(end);
        at = 0;
      }
      if (pending.length > maxBlockBytes) throw new SseBlockTooLong(maxBlockBytes);
      return events;
    },
    rest: () => pending,
  };
}

function readBlock(raw: Buffer): SseEvent {
  // Nearly every block is one line of data.
  if (raw.indexOf(lf) === raw.length - 2 && raw.toString("latin1", 0, 5) === "data:" && !raw.includes(cr)) {
    return { name: "", data: raw.toString("utf8", raw[5] === space ? 6 : 5, raw.length - 2), raw };
  }
  let name = "";
  const data: string[] = [];
  for (const line of raw
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }
  return { name, data: data.length === 0 ? undefined : data.join("\n"), raw };
}
