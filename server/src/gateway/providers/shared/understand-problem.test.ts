import fc from "fast-check";
import { expect, test } from "vitest";
import type { UpstreamProblem } from "../provider.ts";
import { redact } from "./redact.ts";
import { understandProblem } from "./understand-problem.ts";

const none = { fields: {} };
const problem = (message: string, more: Partial<UpstreamProblem> = {}): UpstreamProblem => ({
  kind: "request",
  status: 400,
  message,
  ...more,
});

test.each<[provider: string, message: string, more?: Partial<UpstreamProblem>]>([
  ["openai", "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens."],
  ["openai, Responses", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  ["anthropic", "prompt is too long: 208310 tokens > 200000 maximum"],
  ["anthropic", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length"],
  ["bedrock", "Input is too long for requested model."],
  ["bedrock, Nova", "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input."],
  ["bedrock, Titan", "Too many input tokens. Max input tokens: 8192, request input token count: 10001"],
  ["gemini", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."],
  [
    "vertex",
    "Unable to submit request because the input token count is 2500031 but the model only supports up to 1048576.",
  ],
  ["mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"],
  ["xai", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ["groq", "Please reduce the length of the messages or completion."],
  ["openrouter", "This endpoint's maximum context length is 200000 tokens. However, you requested about 200104 tokens"],
  ["together", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.", { status: 422 }],
  ["fireworks", "The prompt is too long: 131073, model maximum context length: 131072"],
  ["vllm", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  [
    "llama.cpp",
    "the request exceeds the available context size, try increasing it",
    { type: "exceed_context_size_error" },
  ],
  [
    "lm studio",
    "Trying to keep the first 4236 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, the number of tokens to keep from the initial prompt is greater than the context length",
  ],
  ["ollama", "the input length exceeds the context length", { kind: "fault", status: 500 }],
  ["tgi", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", { status: 422 }],
  ["cohere", "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs"],
  ["dashscope", "Range of input length should be [1, 30720]"],
  ["moonshot", "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"],
  ["zhipu", "Prompt 超长", { code: "1261" }],
  ["minimax", "invalid params, context window exceeds limit (2013)", { kind: "fault", status: 200 }],
  ["github models", "Request body too large for gpt-4o-mini model. Max size: 8000 tokens.", { status: 413 }],
  [
    "cloudflare",
    "The estimated number of input and maximum output tokens (60004) exceeded this model context window limit (32768).",
  ],
])("P14: %s reports a context overflow: %s", (_provider, message, more) => {
  expect(understandProblem(problem(message, more), none)).toMatchObject({
    kind: "request",
    code: "context_length_exceeded",
    message,
  });
});

test.each<[message: string, more?: Partial<UpstreamProblem>]>([
  ["Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000", { status: 413 }],
  ["Rate limit reached: too many input tokens", { kind: "busy", status: 429 }],
  ["Request exceeds the maximum size", { status: 413 }],
  ["max_tokens is too large: 100000. This model supports at most 16384 completion tokens"],
  ["The model `context-length-lab` does not exist", { status: 404 }],
  ["String too long for `user`: at most 64 characters", { code: "string_above_max_length" }],
  ["temperature must be at most 1", { param: "temperature" }],
  ["Unknown parameter: content_filter_level", { code: "unknown_parameter" }],
  ["The provider did not answer in time.", { kind: "fault", status: 0 }],
])("P14: %s is not a context overflow", (message, more) => {
  const upstream = problem(message, more);
  expect(understandProblem(upstream, none)).toEqual(upstream);
});

test.each<[provider: string, message: string, more: Partial<UpstreamProblem>, code: string]>([
  [
    "azure",
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    { code: "content_filter" },
    "content_filter",
  ],
  [
    "openai",
    "Your request was rejected as a result of our safety system.",
    { code: "moderation_blocked" },
    "moderation_blocked",
  ],
  ["anthropic", "Output blocked by content filtering policy", {}, "content_filter"],
  ["deepseek", "Content Exists Risk", {}, "content_filter"],
  ["xai", "Content violates usage guidelines.", { kind: "credential", status: 403 }, "content_filter"],
  [
    "openrouter",
    "The chosen model requires moderation and your input was flagged.",
    { kind: "credential", status: 403 },
    "content_filter",
  ],
  [
    "moonshot",
    "The request was rejected because it was considered high risk",
    { type: "content_filter" },
    "content_filter",
  ],
  ["dashscope", "Output data may contain inappropriate content.", { code: "data_inspection_failed" }, "content_filter"],
])("P3: %s filtered a request: the problem is the request, not the credential", (_provider, message, more, code) => {
  expect(understandProblem(problem(message, more), none)).toMatchObject({ kind: "request", code });
});

const secretChars = fc.string({
  unit: fc.constantFrom(..."abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+/=".split("")),
  minLength: 10,
  maxLength: 60,
});
const encodings: ReadonlyArray<(secret: string) => string> = [
  (secret) => secret,
  encodeURIComponent,
  (secret) => JSON.stringify({ key: secret }),
  (secret) => Buffer.from(secret).toString("base64"),
  (secret) => `Bearer ${secret}`,
  (secret) => JSON.stringify({ echo: JSON.stringify({ headers: { authorization: `Bearer ${secret}` } }) }),
];

test("K14: no field of a problem contains the credential in use, whatever its form and however it is quoted", () => {
  fc.assert(
    fc.property(secretChars, fc.constantFrom(...encodings), fc.string(), (secret, encode, around) => {
      const quoted = `${around} ${encode(secret)} ${around}`;
      for (const credential of [{ apiKey: secret, fields: {} }, { fields: { secret_access_key: secret } }]) {
        const understood = understandProblem(
          problem(quoted, { type: quoted, param: quoted, code: quoted }),
          credential,
        );
        for (const text of [understood.message, understood.type, understood.param, understood.code]) {
          expect(text).not.toContain(secret);
          expect(text).not.toContain(encode(secret));
        }
      }
    }),
  );
});

test.each([
  ['{"error":{"details":[{"api_key":"3f9c81d2a7"}]}}', "3f9c81d2a7"],
  ["https://api.example/v1?key=0a1b2c3d4e5f&alt=sse", "0a1b2c3d4e5f"],
  ['{\\"headers\\":{\\"x-api-key\\":\\"0a1b2c3d4e5f\\"}}', "0a1b2c3d4e5f"],
  ["api-key: 0a1b2c3d4e5f67890a1b2c3d4e5f6789", "0a1b2c3d4e5f67890a1b2c3d4e5f6789"],
  ["Incorrect API key provided: sk-pr*******wxyz", "wxyz"],
  ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.sig-nature rejected", "eyJzdWIiOiIx"],
  ["dapi0123456789abcdef0123456789abcdef is revoked", "0123456789abcdef"],
  ["the key 0123456789abcdef0123456789abcdef.AbCdEf0123456789 is wrong", "AbCdEf0123456789"],
])("K14: %s is reported without the key", (text, secret) => {
  expect(redact(text)).not.toContain(secret);
  expect(redact(text)).toContain("[redacted]");
});

test.each([
  "api_key: required",
  "Missing Authorization header",
  "The access token expired at 12:00.",
  "password: must be text",
  "token: 12 of 20",
])("K14: %s is reported unchanged", (text) => {
  expect(redact(text)).toBe(text);
});
