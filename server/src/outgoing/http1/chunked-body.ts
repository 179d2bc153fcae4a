import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";

const [cr, lf, semicolon] = [0x0d, 0x0a, 0x3b];

/**
 * Matches a size line from the first semicolon on: extension names, some with a value. Other parsers refuse anything
 * else.
 */
const extensions = /^(?:;[!#$%&'*+\-.^_`|~\w]+(?:=(?:[!#$%&'*+\-.^_`|~\w]+|"[\t !#-[\]-~\x80-\xff]*"))?)+$/;

/** The element that is expected next. */
type State = "size" | "extension" | "line-feed" | "data" | "data-cr" | "data-lf" | "end";

/**
 * Decodes a chunked body (RFC 9112 §7.1) up to its trailers. Extensions are skipped; only CRLF ends a line. The data of all
 * chunks of one read is passed on together, as streams have one chunk per event: the bytes are moved up over the lines
 * between them.
 */
export class ChunkedBody {
  #state: State = "size";
  /** The size from the size line, then the remaining bytes of the chunk. */
  #bytes = 0;
  #lineBytes = 0;
  #extensions = "";

  /** Whether the size line of the last chunk was read. The trailers follow. */
  get isComplete(): boolean {
    return this.#state === "end";
  }

  /**
   * Reads from `at` on, and overwrites the bytes that it has read.
   * @returns where it stopped: before the end of `bytes` only if the body is complete
   * @throws ExchangeError after passing on the data before the error
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

  #step(state: Exclude<State, "data" | "end">, byte: number): State {
    switch (state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        return this.#readExtension(byte);
      case "line-feed":
        if (byte !== lf) throw badAnswer("a malformed chunk size");
        this.#lineBytes = 0;
        return this.#bytes === 0 ? "end" : "data";
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
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
