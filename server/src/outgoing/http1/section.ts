import { startsAlike } from "../../lib/header-fields.ts";
import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";

const none = Buffer.alloc(0);
const crlfBytes = 2;
const [tab, lf, cr, space, del] = [0x09, 0x0a, 0x0d, 0x20, 0x7f];

/**
 * Collects the lines of a head, or of trailers, up to the blank line that ends them. Each piece is searched together
 * with the buffered bytes, which is quadratic for pieces of a few bytes, but bounded: at worst 64 KiB per packet.
 */
export class Section {
  readonly #start: Buffer;
  /** The section, followed by any bytes that arrived with its end. */
  bytes: Buffer;
  /** The offset where its lines end, once complete, each with its CRLF. */
  end = 0;

  /** @param start the bytes that the section must begin with. @param buffered bytes of it that were read before. */
  constructor(start: Buffer, buffered: Buffer = none) {
    this.#start = start;
    this.bytes = buffered;
  }

  /** @returns how many of the bytes belong to the section; -1 if all of them do and it is incomplete */
  take(bytes: Buffer): number {
    const buffered = this.bytes.length;
    const all = buffered === 0 ? bytes : Buffer.concat([this.bytes, bytes]);
    // Checked immediately: a greeting of another protocol would never complete a head.
    if (!startsAlike(all, this.#start)) throw badAnswer("a malformed head");
    const end = endOfLines(all);
    const length = end === -1 ? all.length : end + crlfBytes;
    if (length > outgoingLimits.upstreamHeadBytes) throw badAnswer("a head too long");
    this.bytes = all;
    if (end === -1) return -1;
    this.end = end;
    return length - buffered;
  }
}

/**
 * Returns where the final blank line begins, or -1.
 * @throws ExchangeError for control characters before it, and for line ends that are not CRLF: other parsers of the
 * same bytes might treat them as line ends
 */
function endOfLines(bytes: Buffer): number {
  for (let at = nextControl(bytes, 0); at < bytes.length; at = nextControl(bytes, at + 1)) {
    const byte = bytes[at];
    if (byte === tab) continue;
    if (byte !== cr) throw badAnswer("a malformed head");
    at += 1;
    if (at === bytes.length) break;
    if (bytes[at] !== lf) throw badAnswer("a malformed head");
    if (bytes[at + 1] === cr && bytes[at + 2] === lf) return at + 1;
  }
  return -1;
}

/** Returns the index of the next control character, or the length. */
function nextControl(bytes: Buffer, at: number): number {
  const { length } = bytes;
  while (at < length) {
    const byte = bytes[at] ?? 0;
    if (byte < space || byte === del) break;
    at += 1;
  }
  return at;
}
