import { fieldNameOf, isFieldValue, isToken } from "../../lib/header-fields.ts";
import { ExchangeError } from "./errors.ts";

/** A request whose body is in memory, so that its length is known and it can be sent again. */
export type OutgoingRequest = {
  method: string;
  /** Path and query, already encoded. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Text is sent as UTF-8. Pieces are sent one after the other without being copied. */
  body?: string | Buffer | readonly Buffer[];
};

const target = /^\/[\x21-\x7e]*$/;

/**
 * Headers that follow from the body and the connection. They are written here: other values from callers would break
 * the framing.
 */
const ours = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
]);

const smallBytes = 16 * 1024;

/**
 * Encodes a request as the pieces to write. A small one is one piece: copying the body costs less than a second write.
 * @param host the value of the Host header
 * @throws ExchangeError `BAD_REQUEST`
 */
export function encodeRequest(
  { method, path, headers = {}, body = "" }: OutgoingRequest,
  host: string,
): readonly Buffer[] {
  if (!isToken(method) || !target.test(path)) throw badRequest("its method or path");
  const pieces = typeof body === "string" ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);

  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const text = headers[name] ?? "";
    const lowerName = fieldNameOf(name);
    if (lowerName === undefined || !isFieldValue(text)) throw badRequest(`its header ${JSON.stringify(name)}`);
    if (ours.has(lowerName)) throw badRequest(`its header ${name}, which is the connection's own`);
    head += `${name}: ${text}\r\n`;
  }
  const hasLength = bytes > 0 || (method !== "GET" && method !== "HEAD");
  head += hasLength ? `content-length: ${bytes}\r\n\r\n` : "\r\n";

  if (bytes > smallBytes) return [Buffer.from(head, "latin1"), ...pieces];
  const whole = Buffer.allocUnsafe(head.length + bytes);
  let at = whole.write(head, "latin1");
  for (const piece of pieces) at += piece.copy(whole, at);
  return [whole];
}

function badRequest(what: string): ExchangeError {
  return new ExchangeError("BAD_REQUEST", `the request cannot be sent for ${what}`);
}
