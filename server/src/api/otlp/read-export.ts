import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { httpLimits } from "../../http/limits.ts";
import { content, reply, type Reply } from "../../http/reply.ts";
import type { RawBodyValue } from "../../http/endpoint.ts";
import { OtlpDecodeError, type ExportRequest } from "../../ingest/otlp/export-request.ts";

/** The encoding of a request, and therefore of its response. */
export type Encoding = { kind: "json" | "protobuf"; contentType: string };

const protobufTypes = new Set(["application/x-protobuf", "application/protobuf"]);
const otlpMediaTypes = ["application/json", "application/x-protobuf"] as const;

/**
 * The media type decides; without one, the first byte does. @throws ServiceError `unsupported_media_type`
 */
export function encodingOf({ bytes, contentType }: RawBodyValue): Encoding {
  if (contentType === "application/json") return { kind: "json", contentType };
  if (protobufTypes.has(contentType)) return { kind: "protobuf", contentType };
  if (contentType !== "") {
    const message = "Content-Type must be application/x-protobuf or application/json.";
    throw new ServiceError("unsupported_media_type", message);
  }
  // A protobuf export begins with its first field, 0x0a, which is also white space: look past it.
  const isJson = /^\s*\{/.test(bytes.toString("latin1", 0, 64));
  return isJson
    ? { kind: "json", contentType: "application/json" }
    : { kind: "protobuf", contentType: "application/x-protobuf" };
}

const success = z
  .object({
    partialSuccess: z
      .object({ rejectedSpans: z.int(), rejectedLogRecords: z.int(), errorMessage: z.string() })
      .partial()
      .meta({ description: "Empty if everything was accepted." }),
  })
  .meta({ id: "OtlpSuccess" });

/** What the operations of OTLP have in common. */
export const otlpOperation = {
  method: "POST",
  tags: ["Traces"],
  auth: "key",
  permission: "spans:ingest",
  dialect: "otlp",
  success: {
    status: 200,
    schema: success,
    alternatives: {
      "application/x-protobuf": "The same message in protobuf, if the request was: empty if everything was accepted.",
    },
  },
} as const;
export const otlpBody = { kind: "raw", maxBytes: httpLimits.requestBytes, mediaTypes: otlpMediaTypes } as const;

type Decoders<T> = Record<Encoding["kind"], (bytes: Buffer) => ExportRequest<T>>;

/** @throws ServiceError `invalid_request`, `payload_too_large` */
export function decodeExport<T>(bytes: Buffer, encoding: Encoding, decoders: Decoders<T>): ExportRequest<T> {
  // An empty export is an empty protobuf message; an empty JSON body means the same.
  if (bytes.length === 0) return { groups: [], malformed: 0 };
  try {
    return decoders[encoding.kind](bytes);
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error;
    const code = error.reason === "too_large" ? "payload_too_large" : "invalid_request";
    throw new ServiceError(code, error.message, { cause: error });
  }
}

/**
 * 200 in the request's encoding. On full success, `partial_success` is omitted: exporters warn about it even if it says
 * that nothing was rejected.
 */
export function exportReply(
  { kind, contentType }: Encoding,
  partial?: { rejectedField: "rejectedSpans" | "rejectedLogRecords"; rejected: number; message: string },
): Reply {
  if (kind === "json") {
    const partialSuccess = partial && { [partial.rejectedField]: partial.rejected, errorMessage: partial.message };
    return reply(200, { partialSuccess: partialSuccess ?? {} });
  }
  if (!partial) return content(contentType, Buffer.alloc(0));
  return content(contentType, encodePartialSuccess(partial.rejected, partial.message));
}

/** Field 1 of the response. In it, field 1 is the number of rejected items (varint), field 2 the reason as text. */
function encodePartialSuccess(rejected: number, message: string): Buffer {
  const text = Buffer.from(message, "utf8");
  const inner = Buffer.concat([Buffer.from([0x08, ...varint(rejected), 0x12, ...varint(text.length)]), text]);
  return Buffer.concat([Buffer.from([0x0a, ...varint(inner.length)]), inner]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}
