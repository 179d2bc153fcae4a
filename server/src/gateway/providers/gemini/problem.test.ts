import fc from "fast-check";
import { expect, test } from "vitest";
import { badKey, quotaExceeded } from "./answers.fixture.ts";
import { geminiTranslator } from "./translator.ts";

const problem = (status: number, body: unknown, headers = {}) =>
  geminiTranslator.problem(status, headers, Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
const error = (code: number, status: string) => ({ error: { code, message: "Told so", status } });

test.each([
  [400, "INVALID_ARGUMENT", "request"],
  [400, "FAILED_PRECONDITION", "credential"],
  [401, "UNAUTHENTICATED", "credential"],
  [403, "PERMISSION_DENIED", "credential"],
  [404, "NOT_FOUND", "request"],
  [429, "RESOURCE_EXHAUSTED", "busy"],
  [500, "INTERNAL", "fault"],
  [503, "UNAVAILABLE", "busy"],
  [504, "DEADLINE_EXCEEDED", "fault"],
])("%d %s is a %s", (status, name, kind) => {
  expect(problem(status, error(status, name))).toEqual({ kind, status, type: name, message: "Told so" });
  // The form of streams without SSE.
  expect(problem(status, [error(status, name)])).toMatchObject({ kind, type: name });
});

test("an invalid key is a problem of the credential", () => {
  expect(problem(400, badKey)).toMatchObject({ kind: "credential", status: 400, code: "API_KEY_INVALID" });
  expect(problem(400, { error: { ...badKey.error, details: undefined } })).toMatchObject({ kind: "credential" });
});

test("the requested wait is reported, from a header before the body", () => {
  expect(problem(429, quotaExceeded)).toMatchObject({ kind: "busy", retryAfterMs: 34_400 });
  expect(problem(429, quotaExceeded, { "retry-after": "2" }).retryAfterMs).toBe(2_000);
});

test("a quoted key is redacted", () => {
  const body = { error: { code: 400, message: `Bad key AIza${"x".repeat(35)}`, status: "INVALID_ARGUMENT" } };
  expect(problem(400, body).message).toBe("Bad key [redacted]");
});

test("never throws, whatever the response", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), fc.integer(), (text, status) => {
      expect(problem(status, text)).toMatchObject({ status });
    }),
  );
});
