import { outgoingLimits } from "../limits.ts";
import { badAnswer } from "./errors.ts";
import type { AnswerHead } from "./parse-head.ts";

/** Where the body of an answer ends, and what may become of its connection then. */
export type Framing = {
  isChunked: boolean;
  /** Of a body that is not chunked; infinite where it ends with the connection. */
  bytes: number;
  /** How long the connection may rest after it until it is used again; not at all if 0. */
  restMs: number;
};

const plainLength = /^\d{1,15}$/;
const timeout = /(?:^|[,;\s])timeout=(\d{1,9})/i;

/** RFC 9112 §6.3, where it leaves a choice the strict one. */
export function frameBody(head: AnswerHead, method: string): Framing {
  const { status, headers } = head;
  const { "transfer-encoding": coding, "content-length": length } = headers;
  // No other coding was asked for. Two lengths, even of one size, have become a list, which is no number.
  if (coding !== undefined && coding.toLowerCase() !== "chunked") throw badAnswer("an unknown transfer coding");
  if (length !== undefined && !plainLength.test(length)) throw badAnswer("a malformed content-length");

  const restMs = restOf(head);
  if (method === "HEAD") return { isChunked: false, bytes: 0, restMs };
  if (status === 204 || status === 304) {
    // A peer that speaks of a body may send one all the same: nobody is to take it for the next answer.
    const isBare = coding === undefined && Number(length ?? 0) === 0;
    return { isChunked: false, bytes: 0, restMs: isBare ? restMs : 0 };
  }
  // Where a length contradicts the coding somebody on the way may have believed it.
  if (coding !== undefined) return { isChunked: true, bytes: 0, restMs: length === undefined ? restMs : 0 };
  if (length !== undefined) return { isChunked: false, bytes: Number(length), restMs };
  return { isChunked: false, bytes: Infinity, restMs: 0 };
}

function restOf({ minorVersion, headers }: AnswerHead): number {
  const { connection = "" } = headers;
  if (hasToken(connection, "close") || (minorVersion === 0 && !hasToken(connection, "keep-alive"))) return 0;
  const keepAlive = headers["keep-alive"];
  const hint = keepAlive === undefined ? undefined : timeout.exec(String(keepAlive))?.[1];
  // A second less than the peer says: its clock began before ours.
  return Math.min(outgoingLimits.upstreamKeepAliveMs, hint === undefined ? Infinity : (Number(hint) - 1) * 1_000);
}

function hasToken(list: string, token: string): boolean {
  // As nearly all have it.
  if (list === "" || list === "keep-alive") return list === token;
  return list.split(",").some((item) => item.trim().toLowerCase() === token);
}
