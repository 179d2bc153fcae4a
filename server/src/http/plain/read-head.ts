import type { IncomingHttpHeaders } from "node:http";
import { fieldNameOf, findByte, findHeadEnd, isBlank, startsAlike } from "../../lib/header-fields.ts";
import { httpLimits } from "../limits.ts";

/** The head of a request that the fast path serves. */
export type PlainHead = {
  /** The path, without query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Bytes of the head, including the empty line. */
  headBytes: number;
  bodyBytes: number;
};

/** `partial`: more bytes are needed. `other`: Node must read it. */
export type HeadRead = PlainHead | "partial" | "other";

const plainPath = /^\/[\w\-./~]*$/;
const version = " HTTP/1.1\r\n";
const [lf, cr, space, colon] = [0x0a, 0x0d, 0x20, 0x3a];
const crlfBytes = 2;
const plainLength = /^\d{1,7}$/;

/** Headers that make a request more than a head and a body of stated length, or that end the connection. */
const special: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "upgrade",
  "proxy-connection",
  "http2-settings",
]);

const postStart = Buffer.from("POST /");
const pathAt = "POST ".length;

/**
 * Reads the head of a POST that every HTTP/1.1 parser would read the same way: every header once and in plain
 * characters, one `Host`, one `Content-Length`, no transfer coding. Everything else goes to Node's parser: only Node
 * decides what is refused, and how.
 */
export function readPlainHead(bytes: Buffer): HeadRead {
  if (!startsAlike(bytes, postStart)) return "other";
  const end = findHeadEnd(bytes);
  if (end === -1) return bytes.length > httpLimits.plainHeadBytes ? "other" : "partial";
  if (end > httpLimits.plainHeadBytes) return "other";

  const text = bytes.toString("latin1", 0, end + crlfBytes);
  const pathEnd = findByte(bytes, space, pathAt, text.length);
  const path = text.slice(pathAt, pathEnd);
  if (!text.startsWith(version, pathEnd) || !plainPath.test(path)) return "other";
  const headers = readHeaders(bytes, text, pathEnd + version.length);
  if (headers === undefined) return "other";
  const length = headers["content-length"];
  if (length === undefined || !plainLength.test(length) || headers.host === undefined) return "other";
  const bodyBytes = Number(length);
  if (bodyBytes > httpLimits.plainBodyBytes) return "other";
  return { path, headers, headBytes: end + 2 * crlfBytes, bodyBytes };
}

/** Names are tokens that begin with a letter; values are visible ASCII, spaces and tabs. */
function readHeaders(bytes: Buffer, text: string, from: number): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  const end = text.length;
  let at = from;
  while (at < end) {
    const nameEnd = findByte(bytes, colon, at, end);
    const name = isLetter(bytes[at]) ? fieldNameOf(text.slice(at, nameEnd)) : undefined;
    if (name === undefined || headers[name] !== undefined || special.has(name)) return undefined;

    let start = nameEnd + 1;
    while (isBlank(bytes[start])) start += 1;
    const lineEnd = findLineEnd(bytes, start, end);
    if (bytes[lineEnd] !== cr || bytes[lineEnd + 1] !== lf) return undefined;
    let valueEnd = lineEnd;
    while (valueEnd > start && isBlank(bytes[valueEnd - 1])) valueEnd -= 1;
    const value = text.slice(start, valueEnd);
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return undefined;
    headers[name] = value;
    at = lineEnd + crlfBytes;
  }
  return headers;
}

/** Returns the index of the first byte that is not visible ASCII, a space or a tab. */
function findLineEnd(bytes: Buffer, at: number, end: number): number {
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if ((byte < 0x20 && byte !== 0x09) || byte > 0x7e) break;
    at += 1;
  }
  return at;
}

function isLetter(byte = 0): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
