import type { OutgoingHttpHeaders } from "node:http";

/** What goes over the wire: bytes with their media type, or nothing. */
export type Payload = { contentType: string; data: string | Uint8Array | Pieces } | undefined;

/** A long body that is made while it is sent, as fast as the client takes it. `bytes` is its whole length. */
export type Pieces = { bytes: number; pieces: Iterable<Uint8Array> };

/** A complete answer. Handlers return one when the plain success value does not say enough. */
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

/** JSON that is serialised already. It is sent as it is, so it must be one valid JSON text. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function rawJson(text: string): RawJson {
  return new RawJson(text);
}

/** Answers with a status and headers of its own. `undefined` sends no body. */
export function reply(status: number, value?: unknown, headers?: OutgoingHttpHeaders): Reply {
  return new Reply(status, jsonPayload(value), headers);
}

/** Answers with something other than JSON: text, HTML, protobuf. */
export function content(
  contentType: string,
  data: string | Uint8Array | Pieces,
  options: { status?: number; headers?: OutgoingHttpHeaders } = {},
): Reply {
  return new Reply(options.status ?? 200, { contentType, data }, options.headers);
}

/** `JSON.rawJSON` values keep their digits. Throws on what JSON cannot say (bigint, cycles). */
export function jsonPayload(value: unknown): Payload {
  if (value === undefined) return undefined;
  const data = value instanceof RawJson ? value.text : JSON.stringify(value);
  return { contentType: "application/json; charset=utf-8", data };
}
