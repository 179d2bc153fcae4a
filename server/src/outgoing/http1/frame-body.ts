import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";
import type { AnswerHead } from "./parse-head.ts";

/** Where the body of a response ends, and whether its connection can be reused. */
export type Framing = {
  isChunked: boolean;
  /** The length of a body that is not chunked; infinite if it ends with the connection. */
  bytes: number;
  /** How long the connection may be idle before it is reused; not at all if 0. */
  idleMs: number;
};

const plainLength = /^\d{1,15}$/;
const timeout = /(?:^|[,;\s])timeout=(\d{1,9})/i;

/** RFC 9112 §6.3, with the strict option wherever it leaves a choice. */
export function frameBody(head: AnswerHead, method: string): Framing {
  const { status, headers } = head;
  const { "transfer-encoding": coding, "content-length": length } = headers;
  // No other coding was requested. Repeated lengths, even equal ones, were joined to a list, which is not a number.
  if (coding !== undefined && coding.toLowerCase() !== "chunked") throw badAnswer("an unknown transfer coding");
  if (length !== undefined && !plainLength.test(length)) throw badAnswer("a malformed content-length");

  const idleMs = idleMsOf(head);
  if (method === "HEAD") return { isChunked: false, bytes: 0, idleMs };
  if (status === 204 || status === 304) {
    // A peer that announces a body may send one: it must not be read as the next response.
    const isBare = coding === undefined && Number(length ?? 0) === 0;
    return { isChunked: false, bytes: 0, idleMs: isBare ? idleMs : 0 };
  }
  // If a length contradicts the coding, some intermediary may have used the length.
  if (coding !== undefined) return { isChunked: true, bytes: 0, idleMs: length === undefined ? idleMs : 0 };
  if (length !== undefined) return { isChunked: false, bytes: Number(length), idleMs };
  return { isChunked: false, bytes: Infinity, idleMs: 0 };
}

function idleMsOf({ minorVersion, headers }: AnswerHead): number {
  const { connection = "" } = headers;
  if (hasToken(connection, "close") || (minorVersion === 0 && !hasToken(connection, "keep-alive"))) return 0;
  const keepAlive = headers["keep-alive"];
  const hint = keepAlive === undefined ? undefined : timeout.exec(String(keepAlive))?.[1];
  // One second less than the peer's timeout: its clock started earlier.
  return Math.min(outgoingLimits.upstreamKeepAliveMs, hint === undefined ? Infinity : (Number(hint) - 1) * 1_000);
}

function hasToken(list: string, token: string): boolean {
  // Fast path: nearly all responses have one of these.
  if (list === "" || list === "keep-alive") return list === token;
  return list.split(",").some((item) => item.trim().toLowerCase() === token);
}
