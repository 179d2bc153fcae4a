import { describe, expect, test } from "vitest";
import type { OtlpEvent } from "./export-request.ts";
import { mapped, type Given } from "./map-span.fixture.ts";

describe("the outcome of a span", () => {
  const exception: OtlpEvent = {
    name: "exception",
    timeNs: 0n,
    attributes: new Map([["exception.message", "404 gone"]]),
  };
  test.each([
    [
      "the status",
      {},
      { status: { code: 2, message: "boom" } },
      { status: "error", status_code: 500, error_message: "boom" },
    ],
    ["an exception", {}, { events: [exception] }, { status: "error", status_code: 404, error_message: "404 gone" }],
    [
      "an exception of a GenAI client",
      {},
      { events: [{ ...exception, name: "gen_ai.client.operation.exception" }] },
      { status: "error", status_code: 404, error_message: "404 gone" },
    ],
    [
      "Langfuse's level",
      { "langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "no" },
      {},
      { status: "error", error_message: "no" },
    ],
    [
      "an HTTP status code",
      { "http.response.status_code": 429 },
      { status: { code: 2, message: "slow down" } },
      { status: "error", status_code: 429 },
    ],
    [
      "an attribute specific to an SDK",
      { status_code: 429 },
      { status: { code: 2, message: "slow down" } },
      { status_code: 429, metadata: {} },
    ],
    [
      "its message, on any line (S2)",
      { "error.type": "ModelError" },
      { status: { code: 2, message: "The agent failed\nError code: 401 - {'error': …}" } },
      { status_code: 401 },
    ],
    [
      "the stack trace of an exception whose message has no status (S2)",
      {},
      {
        status: { code: 2, message: "it failed" },
        events: [
          {
            ...exception,
            attributes: new Map([
              ["exception.message", "it failed"],
              [
                "exception.stacktrace",
                'Traceback\n  File "a.py", line 404, in f\nopenai.RateLimitError: Error code: 429 - …\n\nAgentError: it failed',
              ],
            ]),
          },
        ],
      },
      { status_code: 429 },
    ],
    [
      "the type of its exception (S2)",
      { "error.type": "NotFoundError" },
      { status: { code: 2, message: "no 500 tokens" } },
      { status_code: 404, metadata: { "error.type": "NotFoundError" } },
    ],
    [
      "the type in an exception event (S2)",
      {},
      {
        status: { code: 2, message: "no" },
        events: [
          {
            ...exception,
            attributes: new Map([
              ["exception.type", "openai.RateLimitError"],
              ["exception.message", "no"],
            ]),
          },
        ],
      },
      { status_code: 429 },
    ],
    ["error.type", { "error.type": "503" }, {}, { status: "error", status_code: 503, error_message: "503" }],
    ["a tool's own status", { "gen_ai.tool.status": "error" }, {}, { status: "error" }],
    ["nothing", { "http.response.status_code": 404 }, { status: { code: 1, message: "" } }, { status: "success" }],
  ] as const)("is read from: %s", (_name, attributes, given, expected) => {
    expect(mapped(attributes, given as Given)).toMatchObject(expected);
  });
});
