import type { IncomingHttpHeaders } from "node:http";
import { fieldNameOf, findByte, isBlank, startsAlike } from "../../lib/header-fields.ts";
import { outgoingLimits } from "../limits.ts";
import { ChunkedBody } from "./chunked-body.ts";
import { badAnswer, ExchangeError } from "./errors.ts";

export type AnswerSink = {
  onHead(status: number, headers: IncomingHttpHeaders): void;
  /** `bytes` is a view into the bytes that were pushed. */
  onData(bytes: Buffer): void;
};

const versionStart = Buffer.from("HTTP/1.");
const crlf = Buffer.from("\r\n");
const crlfBytes = crlf.length;
const none = Buffer.alloc(0);
const [tab, lf, cr, space, colon, del] = [0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x7f];

/**
 * Parses one response from bytes that may be split anywhere, without touching a socket. Provisional responses (1xx) are
 * skipped, as many as fit within the bound of one head. After it throws, the parser cannot be used again.
 */
export class AnswerParser {
  readonly #method: string;
  readonly #sink: AnswerSink;
  /** Undefined once the head is complete. */
  #head: Section | undefined = new Section(versionStart);
  /** The bytes of provisional heads so far. */
  #provisionalBytes = 0;
  #chunked: ChunkedBody | undefined;
  #trailers: Section | undefined;
  /** The remaining bytes of a body that is not chunked. */
  #bytes = 0;
  isComplete = false;
  /** How long the connection may be reused while idle, once the response is complete; not at all if 0. */
  idleMs = 0;

  /** @param method the request's method: it determines whether there is a body */
  constructor(method: string, sink: AnswerSink) {
    this.#method = method;
    this.#sink = sink;
  }

  /**
   * @param bytes owned by the parser from now on: the bytes of a chunked body are overwritten
   * @returns how many of the bytes belong to the response: fewer than were passed only when it is complete
   * @throws ExchangeError `BAD_ANSWER`, and whatever the sink throws
   */
  push(bytes: Buffer): number {
    let at = 0;
    while (this.#head !== undefined) {
      const taken = this.#head.take(at === 0 ? bytes : bytes.subarray(at));
      if (taken === -1) return bytes.length;
      at += taken;
      this.#readHead(this.#head);
    }
    return this.isComplete || at === bytes.length ? at : this.#readBody(bytes, at);
  }

  /**
   * Called when the peer sends no more.
   * @throws ExchangeError `CONNECTION_CLOSED` if the response is then incomplete
   */
  finish(): void {
    if (this.#head !== undefined || this.#bytes !== Infinity) throw closedEarly();
    this.isComplete = true;
  }

  #readHead({ bytes: lines, end }: Section): void {
    const head = parseHead(lines, end);
    // The connection would continue in a protocol that was not requested.
    if (head.status === 101) throw badAnswer("an upgrade");
    if (head.status < 200) {
      this.#provisionalBytes += end + crlfBytes;
      if (this.#provisionalBytes > outgoingLimits.upstreamHeadBytes) throw badAnswer("too many provisional responses");
      this.#head = new Section(versionStart);
      return;
    }
    this.#head = undefined;
    const { isChunked, bytes, idleMs } = frameBody(head, this.#method);
    if (isChunked) this.#chunked = new ChunkedBody();
    this.#bytes = bytes;
    this.idleMs = idleMs;
    this.#sink.onHead(head.status, head.headers);
    this.isComplete = !isChunked && bytes === 0;
  }

  #readBody(bytes: Buffer, at: number): number {
    if (this.#chunked !== undefined) {
      const end = this.#chunked.read(bytes, at, (piece) => this.#sink.onData(piece));
      return this.#chunked.isComplete ? this.#readTrailers(bytes, end) : end;
    }
    const piece = at === 0 && bytes.length <= this.#bytes ? bytes : bytes.subarray(at, at + this.#bytes);
    this.#bytes -= piece.length;
    this.#sink.onData(piece);
    this.isComplete = this.#bytes === 0;
    return at + piece.length;
  }

  /** The lines after the last chunk have the form of header lines; the CRLF of the chunk's own line precedes them. */
  #readTrailers(bytes: Buffer, at: number): number {
    this.#trailers ??= new Section(crlf, crlf);
    const taken = this.#trailers.take(bytes.subarray(at));
    if (taken === -1) return bytes.length;
    parseFields(this.#trailers.bytes, crlfBytes, this.#trailers.end);
    this.isComplete = true;
    return at + taken;
  }
}

export function closedEarly(): ExchangeError {
  return new ExchangeError("CONNECTION_CLOSED", "the connection was closed before the answer was complete");
}

/** Where the body of a response ends, and whether its connection can be reused. */
type Framing = {
  isChunked: boolean;
  /** The length of a body that is not chunked; infinite if it ends with the connection. */
  bytes: number;
  /** How long the connection may be idle before it is reused; not at all if 0. */
  idleMs: number;
};

const plainLength = /^\d{1,15}$/;
const timeout = /(?:^|[,;\s])timeout=(\d{1,9})/i;

/** RFC 9112 §6.3, with the strict option wherever it leaves a choice. */
function frameBody(head: AnswerHead, method: string): Framing {
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

type AnswerHead = {
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
function parseFields(bytes: Buffer, from: number, end: number): IncomingHttpHeaders {
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
