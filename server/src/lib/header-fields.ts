/**
 * HTTP header fields (RFC 9110 §5): their names and values, and where they are in the bytes of a head. Common names are found in a table, which costs less than
 * checking their characters.
 */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether the text is a token (RFC 9110 §5.6.2), as methods and field names are. */
export function isToken(text: string): boolean {
  return token.test(text);
}

/**
 * Whether the text may be sent as a field value (RFC 9110 §5.5): Latin-1 without control characters except tab, so that
 * it cannot end its line.
 */
export function isFieldValue(text: string): boolean {
  return fieldValue.test(text);
}

/** The field name in lower case, however it is spelled; undefined if it is not a token. */
export function fieldNameOf(text: string): string | undefined {
  return common.get(text) ?? (token.test(text) ? text.toLowerCase() : undefined);
}

/** By spelling: each name in lower case, with each word capitalized, and as written here. */
const common: ReadonlyMap<string, string> = new Map(
  [
    // Of requests, as sent by SDKs and proxies.
    "accept accept-encoding accept-language authorization connection content-length content-type cookie forwarded host",
    "origin referer traceparent tracestate user-agent x-api-key x-forwarded-for x-forwarded-host x-forwarded-proto",
    "x-real-ip x-request-id x-stainless-arch x-stainless-async x-stainless-lang X-Stainless-OS",
    "x-stainless-package-version x-stainless-raw-response x-stainless-read-timeout x-stainless-retry-count",
    "x-stainless-runtime x-stainless-runtime-version x-stainless-timeout",
    // Of responses, as sent by providers and their proxies.
    "access-control-expose-headers age alt-svc cache-control CF-Cache-Status CF-RAY content-encoding content-language",
    "date ETag expires keep-alive last-modified openai-organization openai-processing-ms openai-project openai-version pragma",
    "request-id retry-after server set-cookie strict-transport-security transfer-encoding vary via",
    "x-content-type-options x-envoy-upstream-service-time x-frame-options x-powered-by x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens x-ratelimit-remaining-requests x-ratelimit-remaining-tokens x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens X-XSS-Protection",
    // Of this server's own responses.
    "x-spanway-adjusted x-spanway-attempts x-spanway-cache x-spanway-log-id x-spanway-model x-spanway-overhead-ms",
    "x-spanway-provider x-svc-log-id x-respan-log-id x-keywordsai-log-id",
  ]
    .flatMap((names) => names.split(" "))
    .flatMap((spelling): [string, string][] => {
      const name = spelling.toLowerCase();
      const capitalized = name.replaceAll(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
      return [name, capitalized, spelling].map((each) => [each, name]);
    }),
);

// The parts of a head are found byte by byte, as they are short: a native search costs more to start.
const [tab, lf, cr, space] = [0x09, 0x0a, 0x0d, 0x20];

/** Returns the index of the next such byte, or `end`. */
export function findByte(bytes: Buffer, byte: number, at: number, end: number): number {
  while (at < end && bytes[at] !== byte) at += 1;
  return at;
}

/** Returns where the first blank line begins, including the end of the line before it, or -1. */
export function findHeadEnd(bytes: Buffer): number {
  const { length } = bytes;
  let last = 3;
  while (last < length) {
    const byte = bytes[last];
    if (byte === lf) {
      if (bytes[last - 1] === cr && bytes[last - 2] === lf && bytes[last - 3] === cr) return last - 3;
      last += 2;
    } else last += byte === cr ? 1 : 4;
  }
  return -1;
}

/** Whether `bytes` and `start` are equal up to the length of the shorter one. */
export function startsAlike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  for (let at = 0; at < length; at += 1) if (bytes[at] !== start[at]) return false;
  return true;
}

/** Whether the byte is a space or tab, the whitespace allowed around a field value (RFC 9110 §5.6.3, OWS). */
export function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}
