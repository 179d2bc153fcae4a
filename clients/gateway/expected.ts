import { expect } from "vitest";
import type { SpanSummary } from "../../server/test/support/otlp-summary.ts";
import type { Row } from "../../server/test/support/test-client.ts";
import { anthropic, full, mini } from "../otlp/expected.ts";
import { questions, refusingModel } from "./programs/questions.ts";
import { capital, forecast, person, refusal } from "./upstream/scene.ts";

/** A provider of the upstream. */
export type Shape = {
  provider: string;
  model: string;
  /** The provider's own name of the model. */
  modelShown: string;
  /** The usage that it always reports, and its cost in millionths of a US dollar. */
  counted: Pick<SpanSummary, "tokens" | "cost">;
  /** The error code of a refusal. */
  refusalCode: string | null;
};

export const openai: Shape = {
  provider: "openai",
  model: "gpt-4o-mini",
  modelShown: mini,
  counted: full,
  refusalCode: "unsupported_value",
};
export const claude: Shape = {
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  modelShown: "claude-sonnet-4-5",
  counted: anthropic,
  refusalCode: null,
};
/** 0.30 per token, 0.03 cached, 2.50 for output or reasoning. */
export const gemini: Shape = {
  provider: "gemini",
  model: "gemini-2.5-flash",
  modelShown: "gemini-2.5-flash",
  counted: { tokens: "57+17=74 cached 32 thought 5", cost: 25 * 0.3 + 32 * 0.03 + 17 * 2.5 },
  refusalCode: null,
};

export const calls = ["Paris", "Rome"].map((city) => `get_weather({"city":"${city}"})`);

const toolsOf = { finish: "tool_calls", calls, hasDistinctIds: true, text: forecast };
const streamed = { text: capital, ends: ["stop"], isPiecemeal: true };

const unauthorized =
  "Authentication credentials were not provided or are not valid. They are sent as Authorization: Bearer <key>.";

/** The expected results of the cases in programs/openai-cases.ts, for any provider. */
export function expectedCases({ modelShown, counted, refusalCode }: Shape): Record<string, unknown> {
  const [input, output, total, cachedTokens] = (counted.tokens ?? "").match(/\d+/g) ?? [];
  const usage = `${input ?? ""}+${output ?? ""}=${total ?? ""} cached ${cachedTokens ?? ""}`;
  const breakdown = (name: string, stream: boolean) => ({
    prompt_tokens: 57,
    completion_tokens: 17,
    costMicroUsd: counted.cost,
    cached: false,
    stream,
    status_code: 200,
    metadata: { case: name },
  });
  const refused = { threw: { name: "BadRequestError", status: 400, message: `400 ${refusal}`, code: refusalCode } };
  return {
    text: { text: capital, finish: "stop", model: modelShown },
    stream: streamed,
    "stream with usage": { ...streamed, usage },
    "json schema": { value: person },
    tools: toolsOf,
    "streamed tools": toolsOf,
    image: { text: "An image/png of 70 bytes." },
    refused,
    "refused stream": refused,
    "bad key": {
      threw: {
        name: "AuthenticationError",
        status: 401,
        message: expect.stringContaining(unauthorized),
        code: "unauthorized",
      },
    },
    "failed upstream": {
      threw: {
        name: "APIError",
        status: 424,
        message: "424 The provider refused the credential in use.",
        code: "upstream_authentication_failed",
      },
    },
    abort: { isAborted: true },
    breakdown: { text: capital, breakdown: breakdown("breakdown", false) },
    "streamed breakdown": { ...streamed, usage, breakdown: breakdown("streamed breakdown", true) },
  };
}

/** The spans of the same cases: one for each call, and none for an unknown key. */
export function expectedSpans({ model, counted }: Shape): Record<string, SpanSummary[]> {
  const tags = { type: "chat", model, thread: "thread-1", customer: "customer-1" };
  const promptOf = (question: string): string[] => [`user: ${question}`];
  const answered = { ...tags, prompt: promptOf(questions.capital), answer: capital, ...counted };
  const callSpan = { ...tags, prompt: promptOf(questions.weather), tools: "get_weather{}", ...counted };
  const results = ['tool: {"tempC":18}', 'tool: {"tempC":24}'];
  const rounds: SpanSummary[] = [
    { ...callSpan, answer: calls.join(" ") },
    { ...callSpan, prompt: [...callSpan.prompt, `assistant: ${calls.join(" ")}`, ...results], answer: forecast },
  ] as SpanSummary[];
  const refused = { ...tags, prompt: promptOf(questions.refused), cost: 0, status: "failed 400" };
  const inStream = { streamed: true };
  const table: Record<string, Array<Omit<SpanSummary, "name">>> = {
    text: [answered],
    stream: [{ ...answered, ...inStream }],
    "stream with usage": [{ ...answered, ...inStream }],
    "json schema": [{ ...answered, prompt: promptOf(questions.person), answer: JSON.stringify(person) }],
    tools: rounds,
    "streamed tools": rounds.map((round) => ({ ...round, ...inStream })),
    image: [{ ...answered, prompt: [`user: ${questions.image} <image_url>`], answer: "An image/png of 70 bytes." }],
    refused: [refused],
    "refused stream": [{ ...refused, ...inStream }],
    "failed upstream": [
      {
        ...tags,
        model: refusingModel.replace("groq/", ""),
        prompt: promptOf(questions.capital),
        cost: 0,
        status: "failed 424",
      },
    ],
    abort: [
      {
        ...tags,
        prompt: promptOf(questions.count),
        answer: expect.stringMatching(/^1 2 3 /) as string,
        // No usage was reported: it is estimated by length, or as far as the provider had counted.
        tokens: expect.any(String) as string,
        cost: expect.any(Number) as number,
        status: "failed 499",
        ...inStream,
      },
    ],
    breakdown: [answered],
    "streamed breakdown": [{ ...answered, ...inStream }],
  };
  return table as Record<string, SpanSummary[]>;
}

/** Checks the members that all spans of the gateway share, and those that differ from run to run. */
export function expectWhole(spans: Record<string, Row[]>, { provider }: Shape): void {
  for (const [name, rows] of Object.entries(spans)) {
    for (const row of rows) {
      expect([name, row["metadata"]]).toEqual([name, { case: name }]);
      expect(row).toMatchObject({ log_method: "gateway", environment: "prod", limit_info: { is_allowed: true } });
      expect(row["latency"]).toBeGreaterThan(0);
      expect(row["latency"]).toBeLessThan(30);
      expect(row["provider_id"]).toBe(name === "failed upstream" ? "groq" : provider);
      if (row["status_code"] === 200 && row["stream"] === true) {
        expect(row["time_to_first_token"]).toBeGreaterThan(0);
        expect(row["time_to_first_token"]).toBeLessThanOrEqual(Number(row["latency"]));
      }
    }
  }
}
