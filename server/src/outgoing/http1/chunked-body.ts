import { limits } from "../../limits.ts";
import { badAnswer } from "./errors.ts";
import { parseFields } from "./parse-head.ts";
import { Section } from "./section.ts";

const crlf = Buffer.from("\r\n");
const [cr, lf, semicolon] = [0x0d, 0x0a, 0x3b];

/** What is expected next. */
type State = "size" | "extension" | "line-feed" | "data" | "data-cr" | "data-lf" | "trailers" | "end";

/** Takes a chunked body apart (RFC 9112 §7.1). Extensions and trailers are read past; a line ends with CRLF only. */
export class ChunkedBody {
  #state: State = "size";
  /** What the size line says, then what of the chunk is still to come. */
  #bytes = 0;
  #lineBytes = 0;
  #trailers: Section | undefined;

  get isComplete(): boolean {
    return this.#state === "end";
  }

  /** Reads from `at` on. @returns where it stopped: before the end of `bytes` only when the body is complete. */
  read(bytes: Buffer, at: number, onData: (piece: Buffer) => void): number {
    while (at < bytes.length && this.#state !== "end") {
      if (this.#state === "data") {
        const piece = bytes.subarray(at, at + this.#bytes);
        at += piece.length;
        this.#bytes -= piece.length;
        if (this.#bytes === 0) this.#state = "data-cr";
        onData(piece);
      } else if (this.#state === "trailers") {
        at += this.#readTrailers(bytes.subarray(at));
      } else {
        this.#state = this.#step(this.#state, bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  #step(state: Exclude<State, "data" | "trailers" | "end">, byte: number): State {
    switch (state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        this.#countLine();
        if (byte === cr) return "line-feed";
        if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) throw badAnswer("a malformed chunk extension");
        return "extension";
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
      if (byte === semicolon) return "extension";
      throw badAnswer("a malformed chunk size");
    }
    this.#countLine();
    this.#bytes = this.#bytes * 16 + digit;
    if (this.#bytes > Number.MAX_SAFE_INTEGER) throw badAnswer("a chunk too large");
    return "size";
  }

  #countLine(): void {
    if ((this.#lineBytes += 1) > limits.upstreamChunkLineBytes) throw badAnswer("a chunk's line too long");
  }

  /** The lines after the last chunk are those of a head that the chunk's own line begins. */
  #readTrailers(bytes: Buffer): number {
    this.#trailers ??= new Section("\r\n", crlf);
    const taken = this.#trailers.take(bytes);
    if (taken === -1) return bytes.length;
    parseFields(this.#trailers.text, crlf.length);
    this.#state = "end";
    return taken;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
