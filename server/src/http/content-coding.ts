import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { ServiceError } from "../domain/errors.ts";

type Decode = (bytes: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Promise<Buffer>;

const inflate: Decode = promisify(zlib.inflate);
const inflateRaw: Decode = promisify(zlib.inflateRaw);
const gunzip: Decode = promisify(zlib.gunzip);
const zstdDecompress = promisify(zlib.zstdDecompress);
const gzip = promisify(zlib.gzip);

/** A frame may request a window of up to 2 GiB; real senders use at most 8 MiB. */
const zstdWindowLogMax = 23;

const decoders: Record<string, Decode> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  // Some clients send `deflate` without the zlib header that the standard requires.
  deflate: (bytes, options) => (hasZlibHeader(bytes) ? inflate : inflateRaw)(bytes, options),
  br: promisify(zlib.brotliDecompress),
  zstd: (bytes, options) =>
    zstdDecompress(bytes, { ...options, params: { [zlib.constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }),
};

/**
 * Undoes a `Content-Encoding`, off the main thread. Never produces more than `maxBytes`.
 * Throws `unsupported_media_type`, `payload_too_large`, or `invalid_request` for bytes that do not decode.
 */
export async function decodeContent(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const codings = (encoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim());
  const [coding, ...more] = codings.filter((name) => name !== "" && name !== "identity");
  if (coding === undefined || bytes.length === 0) return bytes;
  const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (decode === undefined || more.length > 0) {
    const known = "one of gzip, deflate, br, zstd";
    throw new ServiceError("unsupported_media_type", `Content-Encoding must be ${known}; it is ${codings.join(", ")}.`);
  }
  try {
    return await decode(bytes, { maxOutputLength: maxBytes, chunkSize: chunkSizeFor(bytes.length) });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(maxBytes, "decompressed request body");
    throw new ServiceError("invalid_request", `The request body is not valid ${coding}.`, { cause: error });
  }
}

export function tooLarge(maxBytes: number, what: string): ServiceError {
  return new ServiceError("payload_too_large", `The ${what} is larger than the limit of ${maxBytes} bytes.`);
}

/** The fastest level: it saves four fifths of what the slowest saves, in a fraction of its time. */
const fastest = { level: 1 } as const;

export async function gzipFast(data: string | Uint8Array): Promise<Buffer> {
  return gzip(data, fastest);
}

export function gzipFastStream(): zlib.Gzip {
  return zlib.createGzip({ ...fastest, chunkSize: 64 * 1024 });
}

/**
 * Returns the available coding that the client prefers, the first one of equals; undefined for none. `br` only if it is
 * named: a client that accepts `*` may be too old to know it.
 */
export function chooseCoding<Coding extends "br" | "gzip">(
  acceptEncoding: string | undefined,
  codings: readonly Coding[],
): Coding | undefined {
  const weights = weightsIn(acceptEncoding ?? "");
  // If `identity` is not named, the uncompressed form is the fallback.
  let best: { coding?: Coding; weight: number } = { weight: weights.get("identity") ?? 0 };
  for (const coding of codings) {
    const weight = weights.get(coding) ?? (coding === "gzip" ? weights.get("*") : undefined) ?? 0;
    if (weight > best.weight || (weight > 0 && weight === best.weight && best.coding === undefined)) {
      best = { coding, weight };
    }
  }
  return best.coding;
}

function weightsIn(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(",")) {
    const [, name, weight = "1"] = /^\s*([\w*-]+)\s*(?:;\s*q=\s*([\d.]+)\s*)?$/.exec(part) ?? [];
    if (name !== undefined) weights.set(name, Number(weight) || 0);
  }
  return weights;
}

export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return chooseCoding(acceptEncoding, ["gzip"]) === "gzip";
}

/** One output chunk is large enough for most bodies without making small ones expensive. */
function chunkSizeFor(encodedBytes: number): number {
  return Math.min(Math.max(encodedBytes * 4, 16 * 1024), 1024 * 1024);
}

function hasZlibHeader(bytes: Buffer): boolean {
  const first = bytes[0] ?? 0;
  return (first & 0x0f) === 8 && ((first << 8) | (bytes[1] ?? 0)) % 31 === 0;
}
