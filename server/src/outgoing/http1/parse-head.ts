import type { IncomingHttpHeaders } from "node:http";
import { fieldNameOf, findByte, isBlank, startsAlike } from "../../lib/header-fields.ts";
import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";

const none = Buffer.alloc(0);
const crlfBytes = 2;
const [tab, lf, cr, space, colon, del] = [0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x7f];

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

export type AnswerHead = {
  status: number;
  /** The 1 of HTTP/1.1. */
  minorVersion: 0 | 1;
  headers: IncomingHttpHeaders;
};

/** Offsets within a status line: version and status have a fixed length. */
const [minorAt, statusAt, reasonAt] = ["HTTP/1.".length, "HTTP/1.1 ".length, "HTTP/1.1 200".length];

/**
 * Parses a status line that begins with `HTTP/1.`, and the header lines up to `end`, each ended by CRLF and without
 * control characters.
 */
export function parseHead(bytes: Buffer, end: number): AnswerHead {
  const minor = digitAt(bytes, minorAt);
  const status = digitAt(bytes, statusAt) * 100 + digitAt(bytes, statusAt + 1) * 10 + digitAt(bytes, statusAt + 2);
  const isReadable = minor <= 1 && bytes[statusAt - 1] === space && status >= 100;
  if (!isReadable || (bytes[reasonAt] !== space && bytes[reasonAt] !== cr)) throw badAnswer("a malformed status line");
  const headers = parseFields(bytes, findByte(bytes, cr, reasonAt, end) + crlfBytes, end);
  return { status, minorVersion: minor === 1 ? 1 : 0, headers };
}

/** NaN if the byte is not a digit. */
function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] ?? 0) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : NaN;
}

/**
 * Parses the lines from `from` up to `end`. Names become lower case; values of one name are joined to a list (RFC 9110
 * §5.3), except cookies, which may contain commas. A folded line is refused, as it has no name.
 */
export function parseFields(bytes: Buffer, from: number, end: number): IncomingHttpHeaders {
  const fields = new Fields() as IncomingHttpHeaders;
  // Its parts are slices of it, which cost less than separate strings; their positions are found in the bytes.
  const text = bytes.toString("latin1", 0, end);
  let lines = 0;
  let at = from;
  while (at < end) {
    const nameEnd = findByte(bytes, colon, at, end);
    const lineEnd = findByte(bytes, cr, nameEnd, end);
    const name = nameEnd < end ? fieldNameOf(text.slice(at, nameEnd)) : undefined;
    if (name === undefined) throw badAnswer("a malformed header line");
    if ((lines += 1) > outgoingLimits.upstreamHeaderLines) throw badAnswer("too many header lines");

    let start = nameEnd + 1;
    let valueEnd = lineEnd;
    while (start < valueEnd && isBlank(bytes[start])) start += 1;
    while (valueEnd > start && isBlank(bytes[valueEnd - 1])) valueEnd -= 1;
    add(fields, name, text.slice(start, valueEnd));
    at = lineEnd + crlfBytes;
  }
  return fields;
}

/**
 * An object without inherited names. Unlike `Object.create(null)` it has a hidden class in the engine, so that it is
 * built and read without hashing.
 */
class Fields {
  [name: string]: unknown;

  static {
    Object.setPrototypeOf(Fields.prototype, null);
    Reflect.deleteProperty(Fields.prototype, "constructor");
  }
}

function add(fields: IncomingHttpHeaders, name: string, value: string): void {
  if (name === "set-cookie") {
    (fields[name] ??= []).push(value);
    return;
  }
  const before = fields[name];
  fields[name] = before === undefined ? value : `${String(before)}, ${value}`;
}
