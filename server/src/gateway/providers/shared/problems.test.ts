import type { IncomingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import { retryAfterMs, upstreamMessage } from "./problems.ts";

const date = "Wed, 21 Oct 2026 07:28:00 GMT";
const later = "Wed, 21 Oct 2026 07:28:05 GMT";

test.each<[IncomingHttpHeaders, number | undefined]>([
  [{ "retry-after": "1" }, 1_000],
  [{ "retry-after": " 0.5 " }, 500],
  [{ "retry-after": "3600" }, 3_600_000],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
  [{ "retry-after": later, date }, 5_000],
  [{ "retry-after": date, date: later }, undefined],
  [{ "retry-after": later }, undefined],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "0" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "0x10", date }, undefined],
  [{ "retry-after": "5 apples", date }, undefined],
  [{ "retry-after": "-1", date }, undefined],
  [{ "retry-after": "" }, undefined],
  [{}, undefined],
])("%j requests a wait of %s ms", (headers, ms) => {
  expect(retryAfterMs(headers)).toBe(ms);
});

test.each([
  "Incorrect API key provided: sk-proj-abcDEF123456.",
  "key-aaaaBBBBcccc1111 is invalid",
  "The security token AKIAIOSFODNN7EXAMPLE is invalid",
  "API key AIzaSyA-1234567890abcdefghijklmnop not valid",
  "header: Bearer abc.def.ghi",
  "Invalid API Key gsk_abcDEFghijklmnopqrst",
  "pplx-abcDEF1234567890 and hf_abcDEFghijklmnopqrst",
  "token ya29.a0abcDEF-1234 has expired",
])("%j is reported without the key", (message) => {
  expect(upstreamMessage(message, "")).toContain("[redacted]");
  expect(upstreamMessage(message, "")).not.toMatch(/abcDEF|BBBB|IOSFODNN|1234567890|def\.ghi/);
});

test.each(["There is no key_value_store_of_yours.", "Unknown field fw_version, sk_", "monkey-business-as-usual"])(
  "%j is shown unchanged",
  (message) => {
    expect(upstreamMessage(message, "")).toBe(message);
  },
);
