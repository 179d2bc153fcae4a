import { HeldBytes } from "./held-bytes.ts";

/**
 * Server-sent events out of bytes that were cut anywhere, as the HTML standard has them: lines end in LF, CR LF or CR,
 * a blank line ends an event.
 */

export type SseEvent = {
  /** `event:`, empty where none is given. */
  name: string;
  /** The lines of `data:`; `undefined` for blocks without any, such as comments that keep the connection alive. */
  data: string | undefined;
  /**
   * The block as it came, or several that follow each other where none has data. The blocks of a stream, joined, are the stream; the
   * LF of a last CR LF may open the next block.
   */
  raw: Buffer;
};

/** Goes through a stream block by block. */
export type SseReader = {
  /** @returns whether to go on; what is left of the bytes is not read otherwise */
  take(event: SseEvent): boolean;
  /** Asked before each block that begins at `at`: where the reader has got to with the blocks that it knows without a splitter. */
  skip?(bytes: Buffer, at: number): number;
};

export type SseSplitter = {
  /** The blocks that these bytes complete. Throws `SseBlockTooLong` once, after which the splitter is of no more use. */
  push(bytes: Buffer): SseEvent[];
  /** The same, given one by one. */
  read(bytes: Buffer, reader: SseReader): void;
  /** The bytes of a block that was not completed; empty where the stream ended well. */
  rest(): Buffer;
  /**
   * The stream is over: the last block where its blank line is missing, completed; undefined where there is none. The standard drops
   * such a block, but servers that forget the blank line put usage and finish into it.
   */
  end(): SseEvent | undefined;
};

/** Thrown for a block that is longer than the bound: nothing will be made of it. */
export class SseBlockTooLong extends Error {
  constructor(maxBytes: number) {
    super(`an event of more than ${maxBytes} bytes`);
    this.name = "SseBlockTooLong";
  }
}

const [lf, cr, space, colon] = [0x0a, 0x0d, 0x20, 0x3a];
/** The first bytes of the lines that may be of data: of the field, and of a byte order mark before it. */
const [letterD, markStart] = [0x64, 0xef];
const byteOrderMark = Buffer.from("\uFEFF");

/** A block for clients that know LF alone, and no byte order mark: itself where it holds neither CR nor mark. */
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
  /** The beginning of a block whose end has not come. */
  readonly #held = new HeldBytes();
  #isLineEmpty = true;
  #isAfterCr = false;
  /** Whether a line of the block may be one of data. */
  #mayHoldData = false;
  // Streams of models hold no CR: their lines are found by the engine's own search.
  #mayHoldCr = false;

  constructor(maxBlockBytes: number) {
    this.#maxBlockBytes = maxBlockBytes;
  }

  push(bytes: Buffer): SseEvent[] {
    const events: SseEvent[] = [];
    this.read(bytes, { take: (event) => events.push(event) > 0 });
    return events;
  }

  read(bytes: Buffer, reader: SseReader): void {
    this.#mayHoldCr = bytes.includes(cr);
    for (let at = 0; ;) {
      if (reader.skip !== undefined && this.#held.length === 0) at = this.#skip(bytes, at, reader.skip(bytes, at));
      let end = this.#findEnd(bytes, at);
      if (end === -1) return this.#hold(bytes.subarray(at));
      const isSilent = !this.#mayHoldData;
      this.#begin(bytes, end);
      if (isSilent) end = this.#endOfSilence(bytes, end);
      const raw = this.#held.takeWith(bytes.subarray(at, end));
      at = end;
      if (!reader.take(isSilent ? { name: "", data: undefined, raw } : readBlock(raw))) return;
    }
  }

  rest(): Buffer {
    return this.#held.view();
  }

  end(): SseEvent | undefined {
    const rest = this.#held.view();
    const last = rest.at(-1);
    if (last === undefined || !this.#mayHoldData) return undefined;
    // An LF after a CR is the end of the same line.
    return readBlock(this.#held.takeWith(Buffer.from(last === lf ? "\n" : "\n\n")));
  }

  #skip(bytes: Buffer, from: number, to: number): number {
    if (to > from) this.#begin(bytes, to);
    return to;
  }

  /** A block begins at `at`. */
  #begin(bytes: Buffer, at: number): void {
    this.#isLineEmpty = true;
    this.#isAfterCr = bytes[at - 1] === cr;
    this.#mayHoldData = false;
  }

  #hold(bytes: Buffer): void {
    this.#held.add(bytes);
    if (this.#held.length > this.#maxBlockBytes) throw new SseBlockTooLong(this.#maxBlockBytes);
  }

  /** The end of the block that goes on, or begins, at `at`; -1 where it is not complete. */
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
        if (this.#isLineEmpty && (byte === letterD || byte === markStart)) this.#mayHoldData = true;
        this.#isLineEmpty = false;
        if (this.#mayHoldCr) continue;
        const lineEnd = bytes.indexOf(lf, at);
        at = lineEnd === -1 ? bytes.length : lineEnd;
      } else if (this.#isLineEmpty) {
        // The LF of this CR LF is of this block if it is there already.
        return this.#isAfterCr && bytes[at] === lf ? at + 1 : at;
      } else this.#isLineEmpty = true;
    }
    return -1;
  }

  /** Where the blocks without data end that follow one which ended at `end`: a flood of them costs no more than their bytes. */
  #endOfSilence(bytes: Buffer, end: number): number {
    for (;;) {
      const next = this.#findEnd(bytes, end);
      const goesOn = next !== -1 && !this.#mayHoldData;
      // What was seen of a block that is none of them will be read again.
      this.#begin(bytes, goesOn ? next : end);
      if (!goesOn) return end;
      end = next;
    }
  }
}

function readBlock(raw: Buffer): SseEvent {
  const mayHoldCr = raw.includes(cr);
  let name = "";
  const data: string[] = [];
  let at = raw[0] === markStart && raw.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0;
  while (at < raw.length) {
    const end = mayHoldCr ? endOfLine(raw, at) : raw.indexOf(lf, at);
    const line = valueOf("data", raw, at, end);
    if (line !== undefined) data.push(line);
    else name = valueOf("event", raw, at, end) ?? name;
    at = end + 1;
  }
  return { name, data: data.length > 1 ? data.join("\n") : data[0], raw };
}

/** An LF after a CR is an empty line here, which says nothing. */
function endOfLine(raw: Buffer, at: number): number {
  while (raw[at] !== lf && raw[at] !== cr) at += 1;
  return at;
}

/** What a line says of the field; `undefined` where it is of another. */
function valueOf(field: string, raw: Buffer, at: number, end: number): string | undefined {
  for (let i = 0; i < field.length; i += 1) if (raw[at + i] !== field.charCodeAt(i)) return undefined;
  at += field.length;
  if (at === end) return "";
  if (raw[at] !== colon) return undefined;
  return raw.toString("utf8", raw[at + 1] === space ? at + 2 : at + 1, end);
}
