import { ByteBuffer } from "./byte-buffer.ts";

/**
 * Parses server-sent events from bytes that may be split anywhere, by the HTML standard: lines end in LF, CR LF or CR,
 * a blank line ends an event.
 */

export type SseEvent = {
  /** The `event:` field, empty if absent. */
  name: string;
  /** The `data:` lines, joined by LF; `undefined` for blocks without any, such as keep-alive comments. */
  data: string | undefined;
  /**
   * The bytes of the block, or of several consecutive blocks without data. The blocks of a stream, joined, are the
   * stream; the LF of a last CR LF may begin the next block.
   */
  raw: Buffer;
};

/** Reads a stream block by block. */
export type SseReader = {
  /** @returns whether to continue; if false, the rest of the bytes is not read */
  take(event: SseEvent): boolean;
  /**
   * Called before a block that begins at `at`: returns the position after the blocks that the reader recognizes without
   * a splitter.
   */
  skip?(bytes: Buffer, at: number): number;
};

export type SseSplitter = {
  /** The blocks that these bytes complete. Throws `SseBlockTooLong` once; the splitter cannot be used afterwards. */
  push(bytes: Buffer): SseEvent[];
  /** Like `push`, but passes the blocks to the reader one by one. */
  read(bytes: Buffer, reader: SseReader): void;
  /** The bytes of an incomplete block; empty if the stream ended properly. */
  rest(): Buffer;
  /**
   * Called at the end of the stream: returns the last block if its final blank line is missing, with the line added;
   * undefined if there is none. The standard drops such a block, but servers that omit the blank line put usage and
   * finish reason into it.
   */
  end(): SseEvent | undefined;
};

/** Thrown for a block that is longer than the bound. */
export class SseBlockTooLong extends Error {
  constructor(maxBytes: number) {
    super(`an event of more than ${maxBytes} bytes`);
    this.name = "SseBlockTooLong";
  }
}

const [lf, cr, space, colon] = [0x0a, 0x0d, 0x20, 0x3a];
/** The first bytes of lines that may contain data: of the field name, and of a byte order mark before it. */
const [letterD, markStart] = [0x64, 0xef];
const byteOrderMark = Buffer.from("\uFEFF");

/**
 * A block for clients that support only LF and no byte order mark. Returns `raw` itself if it has neither CR nor mark.
 */
export function plainBlock(raw: Buffer): Buffer {
  const hasMark = raw[0] === markStart && raw.indexOf(byteOrderMark) === 0;
  if (!hasMark && !raw.includes(cr)) return raw;
  const text = raw.toString("latin1", hasMark ? byteOrderMark.length : 0);
  return Buffer.from(text.replace(/\r\n?/g, "\n").replace(/^\n+/, ""), "latin1");
}

export function createSseSplitter(maxBlockBytes: number): SseSplitter {
  return new Splitter(maxBlockBytes);
}

class Splitter implements SseSplitter {
  readonly #maxBlockBytes: number;
  /** The beginning of an incomplete block. */
  readonly #buffer = new ByteBuffer();
  #isLineEmpty = true;
  #isAfterCr = false;
  /** Whether the block may have a data line. */
  #mayContainData = false;
  // Streams of models contain no CR: their lines are found by the engine's native search.
  #mayContainCr = false;

  constructor(maxBlockBytes: number) {
    this.#maxBlockBytes = maxBlockBytes;
  }

  push(bytes: Buffer): SseEvent[] {
    const events: SseEvent[] = [];
    this.read(bytes, { take: (event) => events.push(event) > 0 });
    return events;
  }

  read(bytes: Buffer, reader: SseReader): void {
    this.#mayContainCr = bytes.includes(cr);
    for (let at = 0; ;) {
      if (reader.skip !== undefined && this.#buffer.length === 0) at = this.#skip(bytes, at, reader.skip(bytes, at));
      let end = this.#findEnd(bytes, at);
      if (end === -1) return this.#append(bytes.subarray(at));
      const isSilent = !this.#mayContainData;
      this.#begin(bytes, end);
      if (isSilent) end = this.#endOfSilence(bytes, end);
      const raw = this.#buffer.drainWith(bytes.subarray(at, end));
      at = end;
      if (!reader.take(isSilent ? { name: "", data: undefined, raw } : readBlock(raw))) return;
    }
  }

  rest(): Buffer {
    return this.#buffer.view();
  }

  end(): SseEvent | undefined {
    const rest = this.#buffer.view();
    const last = rest.at(-1);
    if (last === undefined || !this.#mayContainData) return undefined;
    // An LF after a CR belongs to the same line end.
    return readBlock(this.#buffer.drainWith(Buffer.from(last === lf ? "\n" : "\n\n")));
  }

  #skip(bytes: Buffer, from: number, to: number): number {
    if (to > from) this.#begin(bytes, to);
    return to;
  }

  /** Resets the state for a block that begins at `at`. */
  #begin(bytes: Buffer, at: number): void {
    this.#isLineEmpty = true;
    this.#isAfterCr = bytes[at - 1] === cr;
    this.#mayContainData = false;
  }

  #append(bytes: Buffer): void {
    this.#buffer.add(bytes);
    if (this.#buffer.length > this.#maxBlockBytes) throw new SseBlockTooLong(this.#maxBlockBytes);
  }

  /** Returns the end of the block that continues or begins at `at`; -1 if it is incomplete. */
  #findEnd(bytes: Buffer, at: number): number {
    while (at < bytes.length) {
      const byte = bytes[at];
      at += 1;
      if (byte === lf && this.#isAfterCr) {
        this.#isAfterCr = false;
        continue;
      }
      this.#isAfterCr = byte === cr;
      if (byte !== lf && byte !== cr) {
        if (this.#isLineEmpty && (byte === letterD || byte === markStart)) this.#mayContainData = true;
        this.#isLineEmpty = false;
        if (this.#mayContainCr) continue;
        const lineEnd = bytes.indexOf(lf, at);
        at = lineEnd === -1 ? bytes.length : lineEnd;
      } else if (this.#isLineEmpty) {
        // The LF of this CR LF belongs to this block if it has arrived.
        return this.#isAfterCr && bytes[at] === lf ? at + 1 : at;
      } else this.#isLineEmpty = true;
    }
    return -1;
  }

  /** Returns the end of the blocks without data that follow `end`: a flood of them costs no more than their bytes. */
  #endOfSilence(bytes: Buffer, end: number): number {
    for (;;) {
      const next = this.#findEnd(bytes, end);
      const goesOn = next !== -1 && !this.#mayContainData;
      // Bytes that were scanned of a block with data will be read again.
      this.#begin(bytes, goesOn ? next : end);
      if (!goesOn) return end;
      end = next;
    }
  }
}

function readBlock(raw: Buffer): SseEvent {
  const mayContainCr = raw.includes(cr);
  let name = "";
  const data: string[] = [];
  let at = raw[0] === markStart && raw.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0;
  while (at < raw.length) {
    const end = mayContainCr ? endOfLine(raw, at) : raw.indexOf(lf, at);
    const line = valueOf("data", raw, at, end);
    if (line !== undefined) data.push(line);
    else name = valueOf("event", raw, at, end) ?? name;
    at = end + 1;
  }
  return { name, data: data.length > 1 ? data.join("\n") : data[0], raw };
}

/** An LF after a CR is read here as an empty line, which has no effect. */
function endOfLine(raw: Buffer, at: number): number {
  while (raw[at] !== lf && raw[at] !== cr) at += 1;
  return at;
}

/** The value of the field in a line; `undefined` if the line is of another field. */
function valueOf(field: string, raw: Buffer, at: number, end: number): string | undefined {
  for (let i = 0; i < field.length; i += 1) if (raw[at + i] !== field.charCodeAt(i)) return undefined;
  at += field.length;
  if (at === end) return "";
  if (raw[at] !== colon) return undefined;
  return raw.toString("utf8", raw[at + 1] === space ? at + 2 : at + 1, end);
}
