import { expect, test } from "vitest";
import { ApiError } from "./api-error.ts";

const of = (status: number, body: unknown, headers: Record<string, string> = {}): Promise<ApiError> =>
  ApiError.of(new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers }));

test("every error format yields a message", async () => {
  expect(await of(400, { detail: "Bad.", code: "invalid_request", errors: { "a.b": ["Wrong."] } })).toMatchObject({
    message: "Bad.",
    code: "invalid_request",
    errors: { "a.b": ["Wrong."] },
  });
  expect(await of(400, { name: { first: ["Is missing."] } })).toMatchObject({
    message: "name.first: Is missing.",
    errors: { "name.first": ["Is missing."] },
  });
  expect(await of(502, { error: { message: "Upstream.", code: "upstream_failed" } })).toMatchObject({
    message: "Upstream.",
    code: "upstream_failed",
  });
  expect(await of(504, "<html>")).toMatchObject({ status: 504, message: "The server answered 504." });
});

test("the request id and the wait come from the headers", async () => {
  const error = await of(429, { detail: "Slow down." }, { "x-request-id": "r1", "retry-after": "7" });
  expect(error).toMatchObject({ requestId: "r1", retryAfterS: 7 });
});

test("control characters of a request that an error repeats are shown as symbols", async () => {
  const error = await of(400, { detail: "There is no a\u202Eb.", code: "x", errors: { name: ["c\u0007 is taken."] } });
  expect(error).toMatchObject({ message: "There is no a⟨U+202E⟩b.", errors: { name: ["c␇ is taken."] } });
});
