import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attributesOf, randomHex, storedSpans } from "../support/otlp.ts";
import { settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { drawTree, listTraces, retrieveTrace, type Node } from "../support/traces.ts";

/** Events that command-line agents log under their own names, on /api/v1/logs. */
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const startNs = 1_700_000_000_000_000_000n;
type Event = { name: string; atMs: number; attributes: Row; ids?: Row };

const exportOf = (scope: string, events: Event[], eventName: (name: string) => Row): Row => ({
  resourceLogs: [
    {
      scopeLogs: [
        {
          scope: { name: scope },
          logRecords: events.map(({ name, atMs, attributes, ids }) => {
            const { attributes: naming = {}, ...body } = eventName(name) as { attributes?: Row };
            return {
              ...ids,
              ...body,
              timeUnixNano: String(startNs + BigInt(atMs) * 1_000_000n),
              attributes: attributesOf({ ...naming, ...attributes }),
            };
          }),
        },
      ],
    },
  ],
});

/** Claude Code: the body has the whole name, the attribute has it without the prefix; numbers are text. */
const claude = (events: Event[]): Row =>
  exportOf("com.anthropic.claude_code.events", events, (name) => ({
    attributes: { "event.name": name },
    body: { stringValue: `claude_code.${name}` },
  }));
const codex = (events: Event[]): Row =>
  exportOf("codex_otel", events, (name) => ({ attributes: { "event.name": `codex.${name}` } }));
const gemini = (events: Event[]): Row =>
  exportOf("gemini-cli", events, (name) => ({ attributes: { "event.name": `gemini_cli.${name}` } }));

async function logged(...exports: Row[]): Promise<{ prod: TestClient; rows: Row[]; traces: Row[]; trees: string[] }> {
  const { prod } = await app.newOrganization();
  for (const logs of exports) {
    const answer = await prod.post("/api/v1/logs", logs);
    expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
  }
  const rows = (await storedSpans(prod, {})).filter((row) => row["log_type"] !== "marker");
  const { results: traces } = await listTraces(
    prod,
    {},
    "start_time=2000-01-01&end_time=2100-01-01&sort_by=start_time",
  );
  const trees: string[] = [];
  for (const trace of traces) {
    const { span_tree } = await retrieveTrace(prod, String(trace["trace_unique_id"]));
    trees.push(drawTree(named(span_tree)));
  }
  return { prod, rows, traces, trees };
}

const named = (nodes: readonly Node[]): Node[] =>
  nodes.map((node) => ({ ...node, span_unique_id: String(node["span_name"]), children: named(node.children) }));

const claudeUser = { "session.id": "s1", "user.id": "u1", "user.email": "dev@example.com", "prompt.id": "p1" };
const claudePrompt: Event[] = [
  { name: "user_prompt", atMs: 0, attributes: { ...claudeUser, prompt: "Fix the test", prompt_length: "12" } },
  {
    name: "api_request",
    atMs: 3000,
    attributes: {
      ...claudeUser,
      model: "claude-sonnet-4-5",
      input_tokens: "25",
      output_tokens: "17",
      cache_read_tokens: "20",
      cache_creation_tokens: "12",
      cost_usd: "0.000381",
      duration_ms: "2500",
    },
  },
  { name: "tool_decision", atMs: 3100, attributes: { ...claudeUser, tool_name: "Bash", decision: "accept" } },
  {
    name: "tool_result",
    atMs: 4000,
    attributes: {
      ...claudeUser,
      tool_name: "Bash",
      success: "false",
      error: "exit code 1",
      duration_ms: "800",
      tool_parameters: '{"command":"npm test"}',
    },
  },
  {
    name: "api_error",
    atMs: 5000,
    attributes: {
      ...claudeUser,
      model: "claude-sonnet-4-5",
      error: "overloaded",
      status_code: "529",
      duration_ms: "100",
    },
  },
];

describe("Claude Code", () => {
  test("a prompt becomes a trace with its model calls and tool calls, tokens and cost", async () => {
    const { rows, traces, trees } = await logged(claude(claudePrompt));
    expect(trees).toEqual(["claude_code.user_prompt(claude_code.api_request Bash claude_code.api_error)"]);
    expect(rows).toMatchObject([
      { log_type: "agent", prompt_messages: [{ role: "user", content: "Fix the test" }], latency: 0 },
      {
        log_type: "chat",
        model: "claude-sonnet-4-5",
        provider_id: "anthropic",
        prompt_tokens: 57,
        completion_tokens: 17,
        prompt_cache_hit_tokens: 20,
        prompt_cache_creation_tokens: 12,
        cost: 0.000381,
        cost_source: "stated",
        latency: 2.5,
        status: "success",
      },
      {
        log_type: "tool",
        span_name: "Bash",
        input: '{"command":"npm test"}',
        status: "failed",
        error_message: "exit code 1",
        latency: 0.8,
      },
      { log_type: "chat", status: "failed", status_code: 529, error_message: "overloaded" },
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({
        thread_identifier: "s1",
        customer_identifier: "u1",
        customer_email: "dev@example.com",
      });
    }
    expect(traces).toMatchObject([{ span_count: 4, error_count: 2, total_tokens: 74, total_cost: 0.000381 }]);
  });

  test("the model's response completes its call, in either order", async () => {
    const call = { ...claudeUser, request_id: "req_1", model: "claude-sonnet-4-5" };
    const request: Event = {
      name: "api_request",
      atMs: 0,
      attributes: { ...call, input_tokens: "3", output_tokens: "2" },
    };
    const response: Event = { name: "assistant_response", atMs: 1, attributes: { ...call, response: "Done." } };
    const redacted: Event = { name: "assistant_response", atMs: 1, attributes: { ...call, response: "<REDACTED>" } };
    const expected = { log_type: "chat", total_tokens: 5, completion_message: { role: "assistant", content: "Done." } };
    expect((await logged(claude([response]), claude([request]))).rows).toMatchObject([expected]);
    expect((await logged(claude([request, response]))).rows).toMatchObject([expected]);
    const { rows } = await logged(claude([redacted, request]));
    expect(rows).toMatchObject([{ log_type: "chat", total_tokens: 5 }]);
    expect(rows[0]?.["completion_message"]).toBeFalsy();
  });

  test("event by event, out of order and resent gives the same", async () => {
    const exports = claudePrompt.toReversed().map((event) => claude([event]));
    const { traces, trees } = await logged(...exports, claude(claudePrompt));
    expect(trees).toEqual(["claude_code.user_prompt(claude_code.api_request Bash claude_code.api_error)"]);
    expect(traces).toMatchObject([{ span_count: 4, total_tokens: 74 }]);
  });

  test("bodies of a request complete the span that they name", async () => {
    const { prod } = await app.newOrganization();
    const ids = { traceId: randomHex(32), spanId: randomHex(16) };
    const body = JSON.stringify({ system: "Be brief.", messages: [{ role: "user", content: "Hi" }] });
    const answer = JSON.stringify({ content: [{ type: "text", text: "Hello" }] });
    await prod.post(
      "/api/v1/logs",
      claude([
        { name: "api_request", atMs: 0, ids, attributes: { model: "claude-sonnet-4-5", input_tokens: 3 } },
        { name: "api_request_body", atMs: 0, ids, attributes: { body } },
        { name: "api_response_body", atMs: 0, ids, attributes: { body: answer } },
        { name: "api_response_body", atMs: 0, ids, attributes: { body: answer.slice(0, 20) } },
      ]),
    );
    const span = {
      ...ids,
      name: "claude_code.llm_request",
      startTimeUnixNano: String(startNs),
      endTimeUnixNano: String(startNs + 1_000_000_000n),
      attributes: attributesOf({ model: "claude-sonnet-4-5", input_tokens: 3, output_tokens: 2 }),
    };
    const scope = { name: "com.anthropic.claude_code.tracing" };
    await prod.post("/api/v2/traces", { resourceSpans: [{ scopeSpans: [{ scope, spans: [span] }] }] });
    expect(await storedSpans(prod, { trace_unique_id: [ids.traceId] })).toMatchObject([
      {
        span_name: "claude_code.llm_request",
        prompt_messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hi" },
        ],
        completion_message: { role: "assistant", content: "Hello" },
        total_tokens: 5,
      },
    ]);
  });
});

test("Codex: events of a conversation are siblings, the last event of a stream has the counts", async () => {
  const shared = { "conversation.id": "c1", "user.email": "dev@example.com", model: "gpt-4o-mini" };
  const { rows, traces, trees } = await logged(
    codex([
      { name: "conversation_starts", atMs: 0, attributes: shared },
      { name: "user_prompt", atMs: 10, attributes: { ...shared, prompt: "Fix the test" } },
      { name: "sse_event", atMs: 900, attributes: { ...shared, "event.kind": "response.output_item.done" } },
      {
        name: "sse_event",
        atMs: 1000,
        attributes: {
          ...shared,
          "event.kind": "response.completed",
          input_token_count: "57",
          output_token_count: "17",
          cached_token_count: "32",
          reasoning_token_count: "5",
          duration_ms: "400",
        },
      },
      {
        name: "tool_result",
        atMs: 2000,
        attributes: {
          ...shared,
          tool_name: "shell",
          call_id: "k1",
          arguments: '{"cmd":"ls"}',
          output: "a b",
          success: "true",
        },
      },
    ]),
  );
  expect(trees).toEqual(["codex.user_prompt codex.sse_event shell"]);
  expect(rows).toMatchObject([
    { log_type: "agent", prompt_messages: [{ role: "user", content: "Fix the test" }] },
    {
      log_type: "chat",
      model: "gpt-4o-mini",
      provider_id: "openai",
      total_tokens: 74,
      prompt_cache_hit_tokens: 32,
      reasoning_tokens: 5,
      latency: 0.4,
    },
    { log_type: "tool", span_name: "shell", input: '{"cmd":"ls"}', output: "a b", status: "success" },
  ]);
  expect(rows[1]?.["cost"]).toBeCloseTo(16.35e-6, 12);
  expect(traces).toMatchObject([{ thread_identifier: "c1", span_count: 3, total_tokens: 74 }]);
});

test("Gemini CLI: thinking counts in addition to the output", async () => {
  const shared = { "session.id": "s1", prompt_id: "p1" };
  const { rows, trees } = await logged(
    gemini([
      { name: "user_prompt", atMs: 0, attributes: { ...shared, prompt: "Capital of France?" } },
      { name: "api_request", atMs: 1, attributes: { ...shared, model: "gemini-2.5-flash", request_text: "[]" } },
      {
        name: "api_response",
        atMs: 1000,
        attributes: {
          ...shared,
          model: "gemini-2.5-flash",
          duration_ms: 900,
          input_token_count: 57,
          output_token_count: 12,
          cached_content_token_count: 32,
          thoughts_token_count: 5,
          total_token_count: 74,
          response_text: "Paris",
        },
      },
      {
        name: "tool_call",
        atMs: 1500,
        attributes: {
          ...shared,
          function_name: "read_file",
          function_args: '{"path":"a"}',
          success: true,
          duration_ms: 3,
        },
      },
    ]),
  );
  expect(trees).toEqual(["gemini_cli.user_prompt(gemini_cli.api_response read_file)"]);
  expect(rows).toMatchObject([
    { log_type: "agent", prompt_messages: [{ role: "user", content: "Capital of France?" }] },
    {
      log_type: "chat",
      model: "gemini-2.5-flash",
      completion_message: { role: "assistant", content: "Paris" },
      prompt_tokens: 57,
      completion_tokens: 17,
      reasoning_tokens: 5,
      total_tokens: 74,
      prompt_cache_hit_tokens: 32,
      latency: 0.9,
      thread_identifier: "s1",
    },
    { log_type: "tool", span_name: "read_file", input: '{"path":"a"}' },
  ]);
  expect(rows[1]?.["cost"]).toBeGreaterThan(0);
});

test("events with unknown names, without ids or with values of any type do no harm", async () => {
  const { prod } = await app.newOrganization();
  const odd = [null, true, 7, -1, "", "NaN", { a: [1] }, ["x"]];
  const events = odd.map((value, atMs) => ({
    name: "api_request",
    atMs,
    attributes: { model: value, input_tokens: value, duration_ms: value, error: value, "prompt.id": value } as Row,
  }));
  const others = ["__proto__", "constructor", "unheard_of"].map((name) => ({ name, atMs: 0, attributes: {} }));
  const answer = await prod.post("/api/v1/logs", claude([...events, ...others].map(withoutNull)));
  expect([answer.status, answer.text]).toEqual([200, '{"partialSuccess":{}}']);
  await settle(prod);
  const rows = (await storedSpans(prod, {})).filter((row) => row["log_type"] !== "marker");
  expect(rows).toHaveLength(odd.length);
});

/** OTLP/JSON has no null among plain values: the attribute is left out. */
function withoutNull(event: Event): Event {
  const attributes = Object.fromEntries(Object.entries(event.attributes).filter(([, value]) => value !== null));
  return { ...event, attributes };
}
