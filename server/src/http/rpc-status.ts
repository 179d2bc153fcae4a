import type { ErrorCode } from "../domain/errors.ts";

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
export const rpcCodes: Record<ErrorCode, number> = {
  invalid_request: 3,
  organization_blocked: 7,
  unauthorized: 16,
  forbidden: 7,
  not_found: 5,
  method_not_allowed: 12,
  conflict: 10,
  payload_too_large: 3,
  query_too_large: 8,
  unsupported_media_type: 3,
  expectation_failed: 3,
  validation_failed: 3,
  too_many_rows: 3,
  upstream_failed: 14,
  rate_limited: 8,
  internal: 13,
  unavailable: 14,
};

/** A google.rpc.Status in protobuf: field 1 is the code (varint), field 2 the message (length-delimited). */
export function encodeRpcStatus(code: number, message: string): Buffer {
  const text = Buffer.from(message, "utf8");
  return Buffer.concat([Buffer.from([0x08, code, 0x12, ...varint(text.length)]), text]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return bytes;
}
