import type { IncomingHttpHeaders } from "node:http";
import { limits } from "../../limits.ts";

/** The head of a request that the plain lane takes. */
export type PlainHead = {
  /** The path, without query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Bytes of the head, the empty line included. */
  headBytes: number;
  bodyBytes: number;
};

/** `partial`: more has to arrive before it can be told. `other`: Node is to read it. */
export type HeadRead = PlainHead | "partial" | "other";

const requestLine = /^POST (\/[\w\-./~]*) HTTP\/1\.1\r\n/;
/** Names are tokens (RFC 9110 §5.6.2) that begin with a letter; values are visible ASCII, blanks and tabs. */
const headerLine = /([a-z][\w!#$%&'*+.^`|~-]*):[\t ]*([\t\x20-\x7e]*)\r\n/iy;
const plainLength = /^\d{1,7}$/;

/** What makes a request more than a head and a body of stated length, or means that its connection does not go on. */
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
const headEnd = Buffer.from("\r\n\r\n");

/**
 * Reads the head of a POST that any reader of HTTP/1.1 would read alike: every header once and in plain characters, one
 * `Host`, one `Content-Length`, no coding of transfer. All else is for Node's parser: what is refused, and how, stays
 * its business alone.
 */
export function readPlainHead(bytes: Buffer): HeadRead {
  const start = bytes.subarray(0, postStart.length);
  if (!start.equals(postStart.subarray(0, start.length))) return "other";
  const end = bytes.indexOf(headEnd);
  if (end === -1) return bytes.length > limits.plainHeadBytes ? "other" : "partial";
  if (end > limits.plainHeadBytes) return "other";

  const text = bytes.toString("latin1", 0, end + 2);
  const line = requestLine.exec(text);
  const path = line?.[1];
  if (line === null || path === undefined) return "other";
  const headers = readHeaders(text, line[0].length);
  if (headers === undefined) return "other";
  const length = headers["content-length"];
  if (length === undefined || !plainLength.test(length) || headers.host === undefined) return "other";
  const bodyBytes = Number(length);
  if (bodyBytes > limits.plainBodyBytes) return "other";
  return { path, headers, headBytes: end + headEnd.length, bodyBytes };
}

function readHeaders(text: string, from: number): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  let at = from;
  while (at < text.length) {
    headerLine.lastIndex = at;
    const match = headerLine.exec(text);
    if (match === null) return undefined;
    const [whole, sentName = "", value = ""] = match;
    const name = sentName.toLowerCase();
    if (headers[name] !== undefined || special.has(name)) return undefined;
    if (name === "connection" && value.trim().toLowerCase() !== "keep-alive") return undefined;
    headers[name] = value.trimEnd();
    at += whole.length;
  }
  return headers;
}
