import type { OutgoingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { acceptsGzip, gzipFast, gzipFastStream } from "./content-coding.ts";
import type { RequestContext } from "./context.ts";
import type { Incoming } from "./incoming.ts";
import { httpLimits } from "./limits.ts";

/** The body of a response: bytes with their media type, or nothing. */
export type Payload = { contentType: string; data: string | Uint8Array | Pieces } | undefined;

/** A long body that is produced while it is sent, as fast as the client reads. `bytes` is its total length. */
export type Pieces = { bytes: number; pieces: Iterable<Uint8Array> };

/** A complete response. Handlers return one if the plain success value is not enough. */
export class Reply {
  readonly status: number;
  readonly payload: Payload;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, payload: Payload, headers: OutgoingHttpHeaders = {}) {
    this.status = status;
    this.payload = payload;
    this.headers = headers;
  }
}

/** JSON that is already serialized. It is sent unchanged, so it must be one valid JSON text. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function rawJson(text: string): RawJson {
  return new RawJson(text);
}

/** A JSON response with a status and headers. If `value` is undefined, no body is sent. */
export function reply(status: number, value?: unknown, headers?: OutgoingHttpHeaders): Reply {
  return new Reply(status, jsonPayload(value), headers);
}

/** A response with another body than JSON: text, HTML, protobuf. */
export function content(
  contentType: string,
  data: string | Uint8Array | Pieces,
  options: { status?: number; headers?: OutgoingHttpHeaders } = {},
): Reply {
  return new Reply(options.status ?? 200, { contentType, data }, options.headers);
}

/** `JSON.rawJSON` values keep their digits. Throws for values that JSON cannot represent (bigint, cycles). */
export function jsonPayload(value: unknown): Payload {
  if (value === undefined) return undefined;
  const data = value instanceof RawJson ? value.text : JSON.stringify(value);
  return { contentType: "application/json; charset=utf-8", data };
}

/** Writes a response. Node omits the body for HEAD by itself. */
export async function send(context: RequestContext, reply: Reply, closing: boolean): Promise<void> {
  const headers: OutgoingHttpHeaders = {
    "x-request-id": context.requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...context.corsHeaders,
  };
  let data: string | Uint8Array | Pieces | undefined;
  if (reply.payload !== undefined) {
    headers["content-type"] = reply.payload.contentType;
    const isGzip = canGzip(context, reply, headers);
    if (isGzip) headers["content-encoding"] = "gzip";
    data = isGzip && !isPieces(reply.payload.data) ? await gzipFast(reply.payload.data) : reply.payload.data;
    if (!isGzip || !isPieces(data)) headers["content-length"] = byteLength(data);
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers["content-length"] = 0;
  }
  // The client may have disconnected while the body was compressed.
  if (context.isDisconnected) return;

  const unread = isLongUpload(context.incoming);
  if (closing || unread) headers["connection"] = "close";
  const vary = varyOf(headers, reply.headers);
  context.response.writeHead(reply.status, Object.assign(headers, reply.headers, vary));
  if (isPieces(data)) {
    if (unread) void context.incoming.drain(httpLimits.lingerMs);
    await sendPieces(context, data, headers["content-encoding"] === "gzip");
  } else if (unread) await finishAfterUpload(context, data);
  else context.response.end(data);
}

/** Whether the response is compressed. Sets `vary` if `accept-encoding` was considered. */
function canGzip(
  { incoming }: RequestContext,
  { payload, headers: own }: Reply,
  headers: OutgoingHttpHeaders,
): boolean {
  if (
    payload === undefined ||
    own["content-encoding"] !== undefined ||
    // A strong ETag identifies the uncompressed bytes.
    own["etag"] !== undefined ||
    !/^(?:application\/json|text\/)/.test(payload.contentType)
  )
    return false;
  if (byteLength(payload.data) < httpLimits.compressFromBytes) return false;
  const { vary } = headers;
  headers["vary"] = typeof vary === "string" ? `${vary}, accept-encoding` : "accept-encoding";
  return acceptsGzip(incoming.headers["accept-encoding"]);
}

/** Merges the response's own `vary` with the one that every response of the server has. */
function varyOf({ vary }: OutgoingHttpHeaders, own: OutgoingHttpHeaders): OutgoingHttpHeaders | undefined {
  if (vary === undefined || own["vary"] === undefined) return undefined;
  const names = `${vary}, ${own["vary"]}`.split(", ");
  return { vary: [...new Set(names)].join(", ") };
}

function isPieces(data: string | Uint8Array | Pieces | undefined): data is Pieces {
  return typeof data === "object" && "pieces" in data;
}

function byteLength(data: string | Uint8Array | Pieces): number {
  if (typeof data === "string") return Buffer.byteLength(data);
  return isPieces(data) ? data.bytes : data.length;
}

/** Each piece is produced only when the client has read those before it. */
async function sendPieces(context: RequestContext, data: Pieces, isGzip: boolean): Promise<void> {
  const { response } = context;
  let goOn = () => {};
  response.once("close", () => goOn());
  const source = isGzip ? Readable.from(data.pieces).pipe(gzipFastStream()) : data.pieces;
  for await (const piece of source as AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    if (context.isDisconnected) return;
    if (response.write(piece)) continue;
    await new Promise<void>((resolve) => {
      goOn = resolve;
      response.once("drain", resolve);
    });
  }
  response.end();
}

/**
 * Whether much of the body is still to come. Node reads a short remainder, so that the connection can be reused; a long
 * one is not worth it.
 */
function isLongUpload(incoming: Incoming): boolean {
  if (incoming.isComplete()) return false;
  if (incoming.headers["transfer-encoding"] !== undefined) return true;
  return Number(incoming.headers["content-length"] ?? 0) > httpLimits.controlBodyBytes;
}

/**
 * Responds to a client that is still sending. Closing immediately would reset the connection and could lose the
 * response, so incoming bytes are discarded for a moment first.
 */
async function finishAfterUpload(context: RequestContext, data: string | Uint8Array | undefined): Promise<void> {
  const { incoming, response } = context;
  if (data === undefined) response.flushHeaders();
  else response.write(data);
  context.isAnswered = true;
  await incoming.drain(httpLimits.lingerMs);
  response.end();
}
