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
