import { expect, test } from "vitest";
import { readConversations } from "./conversation.ts";
import { toSpans, type SpanBody } from "./to-spans.ts";

const conversations = readConversations(new URL("../../examples/airline-agent/airline-agent.jsonl", import.meta.url));
const endMs = Date.parse("2026-01-01T12:00:00Z");
const spans = toSpans(conversations, endMs);
const byId = new Map(spans.map((span) => [span.span_unique_id, span]));
const ofType = (type: string): SpanBody[] => spans.filter(({ log_type }) => log_type === type);
const parentOf = (span: SpanBody): SpanBody | undefined => byId.get(span.span_parent_id ?? "");

test("every turn and every tool result of the data set is a separate span", () => {
  expect(spans).toHaveLength(1893);
  expect(byId.size).toBe(1893);
  expect(ofType("agent")).toHaveLength(100);
  expect(ofType("chat")).toHaveLength(1221);
  expect(ofType("tool")).toHaveLength(572);
  expect(new Set(spans.map((span) => span.trace_unique_id)).size).toBe(100);
});

test("spans form one tree per conversation: agent, turns, tool calls below the turn that made them", () => {
  for (const span of spans) {
    const parent = parentOf(span);
    expect(parent?.log_type).toBe(
      new Map([
        ["chat", "agent"],
        ["tool", "chat"],
      ]).get(span.log_type),
    );
    expect(parent?.trace_unique_id ?? span.trace_unique_id).toBe(span.trace_unique_id);
  }
  for (const tool of ofType("tool")) {
    expect(parentOf(tool)?.["completion_message"]).toMatchObject({
      tool_calls: [{ function: { name: tool.span_name, arguments: tool["input"] } }],
    });
  }
});

test("the first conversation, checked by hand", () => {
  const [root, firstTurn] = spans;
  const first = spans.filter((span) => span.trace_unique_id === root?.trace_unique_id);
  expect(first.map((span) => span.span_name).filter((name) => name !== "assistant turn")).toEqual([
    "airline-agent",
    "get_user_details",
    "search_direct_flight",
    "search_onestop_flight",
    "calculate",
    "book_reservation",
    "think",
    "calculate",
    "book_reservation",
  ]);
  expect(root).toMatchObject({
    log_type: "agent",
    customer_identifier: "mia_li_3668",
    customer_name: "Mia Li",
    customer_email: "mia.li3818@example.com",
    thread_identifier: "airline-agent/mia_li_3668",
    input: "Hi! I'm looking to book a flight from New York to Seattle on May 20th.",
    output: expect.stringContaining("Flight HAT136 (JFK to ATL)"),
    metadata: { task_id: 0, trial: 0, reward: 0 },
  });
  expect(firstTurn).toMatchObject({
    model: "gpt-4o",
    prompt_messages: [
      { role: "system", content: expect.stringMatching(/^# Airline Agent Policy/) },
      { role: "user", content: root?.["input"] },
    ],
    completion_message: { role: "assistant", content: expect.stringContaining("I'll need your user ID") },
    completion_tokens: 23,
  });
});

test("each turn contains all messages before it", () => {
  const counts = ofType("chat").map((span) => (span["prompt_messages"] as unknown[]).length);
  expect(Math.max(...counts)).toBe(60);
  const texts = ofType("chat").map((span) => JSON.stringify(span["prompt_messages"]));
  expect(texts.every((text) => text.startsWith('[{"role":"system"'))).toBe(true);
});

test("tool results that contain an error are errors", () => {
  const failed = spans.filter((span) => span["status"] === "error");
  expect(failed).toHaveLength(38);
  expect(failed.filter((span) => span["error_message"] === "Error: payment method not found")).toHaveLength(2);
});

test("callers who never identify themselves get an id per task; trials of one task share a customer", () => {
  const ids = new Set(ofType("agent").map((span) => String(span["customer_identifier"])));
  expect([...ids].filter((id) => id.startsWith("unknown")).sort()).toEqual([
    "unknown_caller_1",
    "unknown_caller_16",
    "unknown_caller_8",
  ]);
  expect(ids.size).toBe(35);
});

test("times end within the last 14 days, children lie within their trace, and nothing overlaps", () => {
  for (const root of ofType("agent")) {
    expect(Date.parse(root.timestamp)).toBeLessThanOrEqual(endMs);
    expect(Date.parse(root.timestamp)).toBeGreaterThan(endMs - 14 * 86_400_000);
    const children = spans.filter((span) => span !== root && span.trace_unique_id === root.trace_unique_id);
    let clock = Date.parse(root.start_time);
    for (const child of children) {
      expect(Date.parse(child.start_time)).toBeGreaterThanOrEqual(clock);
      clock = Date.parse(child.timestamp);
      expect(clock - Date.parse(child.start_time)).toBe(Math.round(child.latency * 1000));
    }
    expect(clock).toBeLessThanOrEqual(Date.parse(root.timestamp));
  }
});

test("another run makes the same spans at later times", () => {
  const later = toSpans(conversations, endMs + 3 * 3_600_000);
  const timeless = ({ start_time: _start, timestamp: _end, ...rest }: SpanBody) => rest;
  expect(later.map(timeless)).toEqual(spans.map(timeless));
  expect(later.at(-1)?.timestamp).toBe("2026-01-01T15:00:00.000Z");
});
