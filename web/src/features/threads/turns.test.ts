import { describe, expect, test } from "vitest";
import { readTurns, withWrappers, type Turn } from "./turns.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string | null, more: object = {}) => ({ role: "assistant", content, ...more });
const call = { tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] };

function span(trace: string | undefined, second: number, more: object = {}) {
  const at = (offset: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second + offset)).toISOString();
  return {
    unique_id: `s${second}`,
    trace_unique_id: trace,
    start_time: at(-1),
    timestamp: at(0),
    model: "gpt-4o",
    new_messages: [],
    ...more,
  };
}

const seenTexts = ({ seen }: Turn) =>
  seen.map(({ role, parts }) => [role, ...parts.map((part) => (part.kind === "text" ? part.text : part.kind))]);

describe("a conversation as the user saw it", () => {
  test("one turn for each trace, without instructions, reasoning and tools", () => {
    const turns = readTurns([
      span("a", 1, { new_messages: [{ role: "system", content: "s" }, user("q1"), assistant(null, call)] }),
      span("a", 3, {
        new_messages: [
          { role: "tool", tool_call_id: "c", content: "r" },
          assistant("a1", { reasoning_content: "hmm" }),
        ],
      }),
      span("b", 9, { new_messages: [user("q2"), assistant("a2")] }),
    ]);
    expect(turns.map(seenTexts)).toEqual([
      [
        ["user", "q1"],
        ["assistant", "a1"],
      ],
      [
        ["user", "q2"],
        ["assistant", "a2"],
      ],
    ]);
    expect(turns[0]).toMatchObject({ trace: "a", spanId: "s3", seconds: 3, spanCount: 2 });
    expect(turns[0]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "assistant"]);
  });

  test("spans without a trace are turns of their own", () => {
    expect(readTurns([span(undefined, 1), span(undefined, 2)])).toHaveLength(2);
  });

  test("turns without messages show input and output of their root", () => {
    const turns = readTurns([
      span("a", 1, { model: null, new_messages: [] }),
      span("b", 2, { new_messages: [user("q")] }),
    ]);
    const wrappers = [
      { trace_unique_id: "a", span_parent_id: "x", input: "inner", output: "inner" },
      { trace_unique_id: "a", span_parent_id: null, input: "hello", output: "hi" },
      { trace_unique_id: "b", span_parent_id: null, input: "not shown", output: "not shown" },
    ];
    expect(withWrappers(turns, wrappers).map(seenTexts)).toEqual([
      [
        ["user", "hello"],
        ["assistant", "hi"],
      ],
      [["user", "q"]],
    ]);
  });
});

describe("the cost of a turn", () => {
  test("counted costs, and the number of calls without a price", () => {
    const [turn] = readTurns([
      span("a", 1, { counted_cost: 0.5, counted_tokens: 10 }),
      span("a", 2, { counted_cost: 0.25, counted_tokens: 5 }),
      span("a", 3, { counted_cost: null }),
      span("a", 4, { model: null, counted_cost: 0 }),
    ]);
    expect(turn).toMatchObject({ cost: 0.75, tokens: 15, unpricedCount: 1 });
  });

  test("the sum of unknown values is unknown, not 0", () => {
    expect(readTurns([span("a", 1)])[0]).toMatchObject({ cost: undefined, tokens: undefined, unpricedCount: 1 });
  });

  test("a failed turn has an error message", () => {
    expect(readTurns([span("a", 1, { failed: true, error_message: "boom" })])[0]).toMatchObject({
      isFailed: true,
      error: "boom",
    });
    expect(readTurns([span("a", 1, { failed: true, status_code: 503 })])[0]).toMatchObject({ error: "Status 503" });
  });
});
