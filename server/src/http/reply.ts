import type { OutgoingHttpHeaders } from "node:http";

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
