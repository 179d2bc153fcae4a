import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { completionChunks } from "../stream/stream-source.ts";
import { CompletionBuilder } from "./completion-builder.ts";

type Row = Record<string, unknown>;

function built(chunks: readonly Row[], maxBytes = 1_000_000): Row | undefined {
  const builder = new CompletionBuilder(maxBytes);
  for (const chunk of chunks) builder.add(chunk);
  return builder.build();
}

const text = fc.string({ maxLength: 20 });
const call = fc.record({
  id: fc.uuid(),
  type: fc.constant("function"),
  function: fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), arguments: text }),
});
const completion = fc
  .record({
    contents: fc.array(
      fc.record({ content: fc.option(text), tool_calls: fc.option(fc.array(call, { minLength: 1 })) }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    usage: fc.option(fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() })),
  })
  .map(({ contents, usage }) => ({
    id: "chatcmpl-1",
    created: 1,
    model: "m",
    citations: ["https://a"],
    object: "chat.completion",
    choices: contents.map(({ content, tool_calls }, index) => ({
      index,
      message: { role: "assistant", content, ...(tool_calls && { tool_calls }) },
      finish_reason: tool_calls ? "tool_calls" : "stop",
    })),
    ...(usage && { usage }),
  }));

describe("The builder of completions", () => {
  test("accumulates the input text of a custom tool call", () => {
    const at = (custom: Row): Row => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, type: "custom", custom }] } }],
    });
    expect(built([at({ name: "sql", input: "SELECT" }), at({ input: " 1" })])).toMatchObject({
      choices: [{ message: { tool_calls: [{ type: "custom", custom: { name: "sql", input: "SELECT 1" } }] } }],
    });
  });

  test("keeps thinking parts beside the text, in any order", () => {
    const says = (...contents: unknown[]): Row[] =>
      contents.map((content) => ({ choices: [{ index: 0, delta: { role: "assistant", content } }] }));
    const thought = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] };
    const message = (...contents: unknown[]): unknown =>
      (built(says(...contents)) as { choices: Array<{ message: Row }> }).choices[0]?.message["content"];
    const expected = [thought, { type: "text", text: "Hello." }];
    expect(message("", [thought], "Hel", "lo.")).toEqual(expected);
    expect(message([thought], [{ type: "text", text: "Hel" }], "lo.", "")).toEqual(expected);
    expect(message("Hel", "lo.", [thought], null)).toEqual([{ type: "text", text: "Hello." }, thought]);
    expect(built(says([thought], "x".repeat(200)), 150)).toBeUndefined();
  });

  test("restores the completion from which a stream was made", () => {
    fc.assert(
      fc.property(completion, (whole) => {
        expect(built(completionChunks(whole))).toEqual(whole);
      }),
    );
  });

  test("accumulates pieces, however they are split", () => {
    fc.assert(
      fc.property(fc.array(text), fc.array(text), (contents, args) => {
        const chunks = [
          ...contents.map((content) => ({ choices: [{ index: 0, delta: { role: "assistant", content } }] })),
          ...args.map((piece, nth) => ({
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [{ index: 0, ...(nth === 0 && { id: "c" }), function: { name: "f", arguments: piece } }],
                },
              },
            ],
          })),
          { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        ];
        const before = JSON.stringify(chunks);
        const { choices } = built(chunks) as { choices: Array<{ message: Row }> };
        expect(choices[0]?.message["content"]).toBe(contents.length > 0 ? contents.join("") : null);
        expect(choices[0]?.message["tool_calls"]).toEqual(
          args.length > 0
            ? [{ id: "c", type: "function", function: { name: "f", arguments: args.join("") } }]
            : undefined,
        );
        expect(JSON.stringify(chunks)).toBe(before);
      }),
    );
  });

  test("omits padding, and takes members that all chunks repeat once", () => {
    const head = { id: "a", model: "m", obfuscation: "xyz", citations: ["https://a"], object: "chat.completion.chunk" };
    const whole = built([
      { ...head, service_tier: null, choices: [{ index: 1, delta: { content: "b", reasoning_content: "r" } }] },
      { ...head, service_tier: "default", choices: [{ index: 0, delta: { content: "a" }, finish_reason: "stop" }] },
      {
        ...head,
        choices: [{ index: 1, delta: {}, finish_reason: "length", content_filter_results: { hate: "safe" } }],
      },
      { ...head, choices: [{ index: 1, delta: {}, content_filter_results: { hate: "safe" } }] },
    ]);
    expect(whole).toEqual({
      id: "a",
      model: "m",
      citations: ["https://a"],
      service_tier: "default",
      object: "chat.completion",
      choices: [
        { index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" },
        {
          index: 1,
          message: { role: "assistant", content: "b", reasoning_content: "r" },
          finish_reason: "length",
          content_filter_results: { hate: "safe" },
        },
      ],
    });
  });

  test("gives up if text, calls or choices grow too large", () => {
    const delta = (members: Row, index = 0): Row => ({ choices: [{ index, delta: members }] });
    const many = Array.from({ length: 100 }, (_, index) => index);
    expect(
      built(
        many.map(() => delta({ content: "x".repeat(20) })),
        1_000,
      ),
    ).toBeUndefined();
    expect(
      built(
        many.map((index) => delta({ tool_calls: [{ index, function: { arguments: "" } }] })),
        1_000,
      ),
    ).toBeUndefined();
    expect(
      built(
        many.map((index) => delta({}, index)),
        1_000,
      ),
    ).toBeUndefined();
  });

  test("returns nothing for a stream without content", () => {
    expect(built([])).toBeUndefined();
    expect(built([{ id: "a", choices: [] }])).toBeUndefined();
  });
});
