import { describe, expect, test } from "vitest";
import { httpStatusOf } from "./http-status.ts";

const statusIn = (text: string): number | undefined => httpStatusOf({ codes: [], texts: [text], types: [] });

describe("S2: the status of a failed call in its message", () => {
  test.each([
    ["Error code: 429 - {'error': {'message': 'Rate limit reached', 'code': 'rate_limit_exceeded'}}", 429],
    ["Error code: 401 - {'error': {'message': 'Incorrect API key'}}", 401],
    ["status_code: 429, model_name: gpt-4o-mini, body: {'message': 'Rate limit'}", 429],
    ["{'error': {'code': 429, 'message': 'Quota exceeded', 'status': 'RESOURCE_EXHAUSTED'}}", 429],
    ['{"error":{"code":503,"message":"The model is overloaded"}}', 503],
    ["429 RESOURCE_EXHAUSTED. {'error': {'message': 'Quota'}}", 429],
    ["400 INVALID_ARGUMENT", 400],
    ["404 The model `gpt-9` does not exist", 404],
    ["404 gone", 404],
    ["503 busy", 503],
    ["403", 403],
    ["Error: 404 no such model", 404],
    ["NotFoundError: 404 The model does not exist", 404],
    ["google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded", 429],
    ["HTTP 503", 503],
    ["HTTP/1.1 502 Bad Gateway", 502],
    ["Request failed with status code 408", 408],
    ["Client error '429 Too Many Requests' for url 'https://api.example.com'", 429],
    ["500 Server Error: Internal Server Error for url: https://api.example.com", 500],
    ["[GoogleGenerativeAI Error]: Error fetching from https://x.test: [429 Too Many Requests] quota", 429],
    ["AI_APICallError { statusCode: 529, url: 'https://x.test' }", 529],
    ["API returned an error: status=403 body={}", 403],
    ["the upstream returned 500", 500],
    ["The agent failed.\nCaused by: model call\nError code: 429 - slow down", 429],
    ["litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached", 429],
    ["litellm.exceptions.ServiceUnavailableError: the model is down", 503],
    ["{'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}", 529],
    ["An error occurred (ThrottlingException) when calling the Converse operation: Too many tokens", 429],
    ["An error occurred (AccessDeniedException) when calling the InvokeModel operation", 403],
  ])("%s", (text, status) => expect(statusIn(text)).toBe(status));

  test.each([
    "used 429 tokens",
    "429 tokens are more than the model takes",
    "the tool took 500 ms",
    "Timed out: error 500 ms after the start",
    "received 404 messages",
    "returned 500 rows",
    "500 requests were made",
    "at most 404 items",
    "500 of the 501 steps were taken",
    "404 calls failed",
    "value must be below 450",
    "exit code: 450",
    "port 5000 is in use, code: 4290",
    "list index 404 out of range",
    "the answer is 42",
    "temperature 451.5 is too hot: status 451.5",
    'File "agent.py", line 429, in run',
    "ValueError: boom happened",
    "FileNotFoundError: [Errno 2] No such file",
    "KeyError: '500'",
    "id call_429fake was not found",
    "",
  ])("finds no status in: %s", (text) => expect(statusIn(text)).toBeUndefined());

  test("attributes come first, then text, then the type of the exception", () => {
    const failure = { codes: ["x", 200, "503"], texts: ["Error code: 429"], types: ["openai.NotFoundError"] };
    expect(httpStatusOf(failure)).toBe(503);
    expect(httpStatusOf({ ...failure, codes: [] })).toBe(429);
    expect(httpStatusOf({ ...failure, codes: [true, null, 600], texts: ["no"] })).toBe(404);
  });

  test.each([
    ["openai.RateLimitError", 429],
    ["AuthenticationError", 401],
    ["anthropic.PermissionDeniedError", 403],
    ["openai.BadRequestError", 400],
    ["openai.APITimeoutError", 408],
    ["rate_limit_error", 429],
    ["openai.InternalServerError", 500],
    ["botocore.errorfactory.ThrottlingException", 429],
    ["google.api_core.exceptions.ServiceUnavailable", 503],
    ["ValueError", undefined],
    ["ModuleNotFoundError", undefined],
    ["ConnectionError", undefined],
    ["_OTHER", undefined],
    ["", undefined],
  ])("by the type %s", (type, status) => {
    expect(httpStatusOf({ codes: [], texts: ["slow down"], types: [type] })).toBe(status);
  });

  test("a message of any size is searched quickly", () => {
    const text = `${"status ".repeat(100_000)}${"429 ".repeat(100_000)}`;
    const started = performance.now();
    statusIn(text);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
