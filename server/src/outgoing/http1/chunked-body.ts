import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";
import { parseFields } from "./parse-head.ts";
import { Section } from "./section.ts";

const crlf = Buffer.from("\r\n");
const [cr, lf, semicolon] = [0x0d, 0x0a, 0x3b];

/** Of a size line, from the first semicolon on: names, some with a value. Other readers refuse what is none of that. */
const extensions = /^(?:;[!#$%&'*+\-.^_`|~\w]+(?:=(?:[!#$%&'*+\-.^_`|~\w]+|"[\t !#-[\]-~\x80-\xff]*"))?)+$/;

/** What is expected next. */
type State = "size" | "extension" | "line-feed" | "data" | "data-cr" | "data-lf" | "trailers" | "end";

/**
 * Takes a chunked body apart (RFC 9112 §7.1). Extensions and trailers are read past; a line ends with CRLF only. What
 * chunks of one read hold is told together, as streams have a chunk for each event: the bytes move up over the lines
 * between them.
 */
export class ChunkedBody {
  #state: State = "size";
  /** What the size line says, then what of the chunk is still to come. */
  #bytes = 0;
  #lineBytes = 0;
  #extensions = "";
  #trailers: Section | undefined;

  get isComplete(): boolean {
    return this.#state === "end";
  }

  /**
   * Reads from `at` on, and overwrites what it has read.
   * @returns where it stopped: before the end of `bytes` only when the body is complete.
   * @throws ExchangeError after telling of the data before the mistake
   */
  read(bytes: Buffer, at: number, onData: (data: Buffer) => void): number {
    let from = at;
    let to = at;
    try {
      while (at < bytes.length && this.#state !== "end") {
        if (this.#state === "data") {
          const end = Math.min(bytes.length, at + this.#bytes);
          if (from === to) from = to = at;
          else bytes.copyWithin(to, at, end);
          to += end - at;
          this.#bytes -= end - at;
          if (this.#bytes === 0) this.#state = "data-cr";
          at = end;
        } else if (this.#state === "trailers") {
          at += this.#readTrailers(bytes.subarray(at));
        } else {
          this.#state = this.#step(this.#state, bytes[at] ?? 0);
          at += 1;
        }
      }
    } finally {
      if (to > from) onData(bytes.subarray(from, to));
    }
    return at;
  }

  #step(state: Exclude<State, "data" | "trailers" | "end">, byte: number): State {
    switch (state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        return this.#readExtension(byte);
      case "line-feed":
        if (byte !== lf) throw badAnswer("a malformed chunk size");
        this.#lineBytes = 0;
        return this.#bytes === 0 ? "trailers" : "data";
      case "data-cr":
        if (byte !== cr) throw badAnswer("a chunk longer than its size");
        return "data-lf";
      case "data-lf":
        break;
    }
    if (byte !== lf) throw badAnswer("a chunk longer than its size");
    return "size";
  }

  #readSize(byte: number): State {
    const digit = hexDigit(byte);
    if (digit === -1) {
      if (this.#lineBytes === 0) throw badAnswer("no chunk size");
      if (byte === cr) return "line-feed";
      if (byte === semicolon) return this.#readExtension(byte);
      throw badAnswer("a malformed chunk size");
    }
    this.#countLine();
    this.#bytes = this.#bytes * 16 + digit;
    if (this.#bytes > Number.MAX_SAFE_INTEGER) throw badAnswer("a chunk too large");
    return "size";
  }

  #readExtension(byte: number): State {
    if (byte !== cr) {
      this.#countLine();
      this.#extensions += String.fromCharCode(byte);
      return "extension";
    }
    if (!extensions.test(this.#extensions)) throw badAnswer("a malformed chunk extension");
    this.#extensions = "";
    return "line-feed";
  }

  #countLine(): void {
    if ((this.#lineBytes += 1) > outgoingLimits.upstreamChunkLineBytes) throw badAnswer("a chunk's line too long");
  }

  /** The lines after the last chunk are those of a head that the chunk's own line begins. */
  #readTrailers(bytes: Buffer): number {
    this.#trailers ??= new Section(crlf, crlf);
    const taken = this.#trailers.take(bytes);
    if (taken === -1) return bytes.length;
    parseFields(this.#trailers.bytes, crlf.length, this.#trailers.end);
    this.#state = "end";
    return taken;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
