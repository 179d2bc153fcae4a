import fc from "fast-check";
import { expect, test } from "vitest";
import { anthropicTranslator } from "./translator.ts";

const problem = (status: number, body: unknown, headers = {}) =>
  anthropicTranslator.problem(status, headers, Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
const error = (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_1" });

test.each([
  [400, "invalid_request_error", "request"],
  [401, "authentication_error", "credential"],
  [402, "billing_error", "credential"],
  [403, "permission_error", "credential"],
  [404, "not_found_error", "request"],
  [413, "request_too_large", "request"],
  [429, "rate_limit_error", "busy"],
  [500, "api_error", "fault"],
  [504, "timeout_error", "fault"],
  [529, "overloaded_error", "busy"],
])("%d %s is a %s", (status, type, kind) => {
  expect(problem(status, error(type, "Told so"))).toEqual({ kind, status, type, message: "Told so" });
});

test("an empty account is a problem of the credential", () => {
  const text = "Your credit balance is too low to access the Anthropic API.";
  expect(problem(400, error("invalid_request_error", text))).toMatchObject({ kind: "credential", message: text });
});

test("the requested wait is reported", () => {
  expect(problem(429, error("rate_limit_error", "Slow down"), { "retry-after": "7" }).retryAfterMs).toBe(7_000);
});

test("a proxy's page is reported, truncated and without keys", () => {
  expect(problem(502, "<html>Bad gateway</html>")).toMatchObject({
    kind: "fault",
    message: "<html>Bad gateway</html>",
  });
  expect(problem(502, "")).toMatchObject({ kind: "fault", message: "Anthropic answered 502" });
  expect(problem(401, error("authentication_error", "invalid x-api-key sk-ant-api03-AbC_123")).message).not.toContain(
    "AbC",
  );
  expect(problem(500, "x".repeat(100_000)).message.length).toBeLessThan(10_000);
});

test("never throws, whatever the response", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      fc.integer(),
      (bytes, status) => {
        expect(problem(status, Buffer.from(bytes).toString("latin1"))).toMatchObject({ status });
      },
    ),
  );
});
