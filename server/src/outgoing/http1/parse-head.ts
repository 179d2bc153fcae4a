import type { IncomingHttpHeaders } from "node:http";
import { fieldNameOf, findByte, isBlank } from "../../lib/header-fields.ts";
import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";

export type AnswerHead = {
  status: number;
  /** The 1 of HTTP/1.1. */
  minorVersion: 0 | 1;
  headers: IncomingHttpHeaders;
};

const [cr, space, colon] = [0x0d, 0x20, 0x3a];
const crlfBytes = 2;
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
