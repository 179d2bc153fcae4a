import type { IncomingHttpHeaders } from "node:http";
import { limits } from "../../limits.ts";
import { badAnswer } from "./errors.ts";

export type AnswerHead = {
  status: number;
  /** 1 of HTTP/1.1. */
  minorVersion: 0 | 1;
  headers: IncomingHttpHeaders;
};

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?\r\n/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Reads a status line and its header lines, each ended by CRLF, without control characters. */
export function parseHead(text: string): AnswerHead {
  const match = statusLine.exec(text);
  if (match === null) throw badAnswer("a malformed status line");
  const [line, minor, status] = match;
  return { status: Number(status), minorVersion: minor === "1" ? 1 : 0, headers: parseFields(text, line.length) };
}

/**
 * Reads the lines from `at` on. Names become lower case, lines of one name one list (RFC 9110 §5.3), but for cookies,
 * which may hold commas. A folded line is refused, as it has no name.
 */
export function parseFields(text: string, at: number): IncomingHttpHeaders {
  const fields = Object.create(null) as IncomingHttpHeaders;
  let lines = 0;
  while (at < text.length) {
    const end = text.indexOf("\r\n", at);
    const colon = text.indexOf(":", at);
    const name = text.slice(at, colon);
    if (colon === -1 || colon > end || !token.test(name)) throw badAnswer("a malformed header line");
    if ((lines += 1) > limits.upstreamHeaderLines) throw badAnswer("too many header lines");
    add(fields, name.toLowerCase(), trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

function add(fields: IncomingHttpHeaders, name: string, value: string): void {
  if (name === "set-cookie") {
    (fields[name] ??= []).push(value);
    return;
  }
  const before = fields[name];
  fields[name] = before === undefined ? value : `${String(before)}, ${value}`;
}

/** Without the blanks and tabs around it; other white space is part of a value. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;
