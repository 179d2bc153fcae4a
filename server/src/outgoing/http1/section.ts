import { limits } from "../../limits.ts";
import { badAnswer } from "./errors.ts";

const none = Buffer.alloc(0);
const blankLine = Buffer.from("\r\n\r\n");

/** Control characters, and line ends that are not CRLF: what other readers of the same bytes might take for line ends. */
// oxlint-disable-next-line no-control-regex
const illegal = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n|$)|(?<!\r)\n/;

/**
 * Gathers the lines of a head, or of trailers, until the blank line that ends them. Each piece is searched together with
 * what is held, which is quadratic in pieces of a few bytes, but bounded: at worst 64 KiB for each packet.
 */
export class Section {
  readonly #start: string;
  #held: Buffer;
  /** All lines once they are there, as latin1, each with its CRLF. */
  text = "";

  /** @param start what the section must begin with. @param held bytes of it that were read already. */
  constructor(start: string, held: Buffer = none) {
    this.#start = start;
    this.#held = held;
  }

  /** @returns how many of the bytes belong to the section; -1 when all of them do and it goes on. */
  take(bytes: Buffer): number {
    const held = this.#held.length;
    const all = held === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const end = all.indexOf(blankLine, Math.max(0, held - blankLine.length + 1));
    if ((end === -1 ? all.length : end + blankLine.length) > limits.upstreamHeadBytes)
      throw badAnswer("a head too long");
    const text = all.toString("latin1", 0, end === -1 ? all.length : end + 2);
    // At once, not when the head is complete: another protocol's greeting would never complete one.
    if (!text.startsWith(this.#start.slice(0, text.length)) || illegal.test(text)) throw badAnswer("a malformed head");
    if (end === -1) {
      this.#held = all;
      return -1;
    }
    this.text = text;
    return end + blankLine.length - held;
  }
}
