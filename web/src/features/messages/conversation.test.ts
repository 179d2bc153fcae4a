import { describe, expect, test } from "vitest";
import { guessNew, placesOfNew, readConversation, toSections } from "./conversation.ts";
import type { DisplayMessage } from "./display-part.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string | null, ...tool_calls: unknown[]) => ({
  role: "assistant",
  content,
  ...(tool_calls.length > 0 && { tool_calls }),
});
const call = (id: string | undefined, name = "f") => ({
  id,
  type: "function",
  function: { name, arguments: '{"a":1}' },
});
const result = (tool_call_id: string | undefined, content: string, name?: string) => ({
  role: "tool",
  tool_call_id,
  content,
  name,
});

/** The role of each message with its parts: the text, or the call with its result. */
const shape = (messages: readonly DisplayMessage[]) =>
  messages.map(({ role, parts }) => [
    role,
    ...parts.map((part) => {
      if (part.kind === "text") return part.text;
      if (part.kind === "tool-call")
        return { call: part.id, got: part.result?.parts, ...(part.isAnsweredLater && { later: true }) };
      return part.kind === "tool-result" ? { result: part.parts, of: part.call?.name } : part.kind;
    }),
  ]);
const textBlocks = (text: string) => [{ kind: "text", text }];

describe("input and output", () => {
  test("messages", () => {
    expect(
      readConversation({ prompt_messages: [user("a")], completion_message: assistant("b"), input: "[]", output: "b" }),
    ).toEqual({
      sent: [user("a")],
      answers: [assistant("b")],
      areChoices: false,
    });
  });

  test("several choices", () => {
    const span = {
      prompt_messages: [user("a")],
      completion_message: assistant("b"),
      completion_messages: [assistant("b"), assistant("c")],
    };
    expect(readConversation(span)).toMatchObject({ answers: [assistant("b"), assistant("c")], areChoices: true });
    const steps = { ...span, completion_messages: [assistant("b", call("1")), result("1", "x"), assistant("c")] };
    expect(readConversation(steps)).toMatchObject({ areChoices: false });
  });

  test("messages as JSON text, and text that is not JSON", () => {
    const found = readConversation({
      input: JSON.stringify([user("a")]),
      output: '{"role":"assistant","content":"b"}',
    });
    expect(found).toEqual({ sent: [user("a")], answers: [assistant("b")], areChoices: false });
    expect(readConversation({ input: '{"city":"Paris"}', output: "[1,2" })).toEqual({
      sent: [],
      answers: [],
      areChoices: false,
      input: { city: "Paris" },
      output: "[1,2",
    });
  });

  test("nothing at all", () => {
    expect(readConversation({ input: null, output: "" })).toEqual({ sent: [], answers: [], areChoices: false });
  });

  test("reasoning sent beside the answer, unless the answer has its own reasoning", () => {
    const [answer] = readConversation({ completion_message: assistant("b"), reasoning: "hmm" }).answers;
    expect(answer).toMatchObject({ reasoning_content: "hmm" });
    const own = { ...assistant("b"), reasoning_content: "own" };
    expect(readConversation({ completion_message: own, reasoning: "hmm" }).answers).toEqual([own]);
  });
});

describe("new messages of a turn", () => {
  const sent = [{ role: "system", content: "s" }, user("a"), assistant("b"), user("a")];
  test("the server's new messages get their places; of equal messages the last is new", () => {
    expect(placesOfNew([...sent, assistant("b")], [user("a"), assistant("b")])).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });

  test("an edited system prompt is new in its place, and does not make the other messages new", () => {
    const isNew = placesOfNew([...sent, assistant("c")], [sent[0], user("a"), assistant("c")]);
    expect(isNew).toEqual([true, false, false, true, true]);
    const { history, turn } = toSections({ sent, answers: [assistant("c")], areChoices: false }, isNew);
    expect([history.length, shape(turn)]).toEqual([3, [["user", "a"]]]);
  });

  test("new messages that the span does not contain are ignored", () => {
    expect(placesOfNew(sent, [user("else"), user("a")])).toEqual([false, false, false, true]);
  });

  test("a first call is all new", () => {
    const { history, turn } = toSections({ sent: sent.slice(0, 2), answers: [], areChoices: false }, [true, true]);
    expect([history, shape(turn)]).toEqual([
      [],
      [
        ["system", "s"],
        ["user", "a"],
      ],
    ]);
  });

  test("a retried call shows its question, marked as sent before", () => {
    const sections = toSections({ sent, answers: [assistant("c")], areChoices: false }, [
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(sections).toMatchObject({ isRepeated: true, history: { length: 3 } });
    expect(shape(sections.turn)).toEqual([["user", "a"]]);
  });

  test("without the server's list, everything after the last answer is new", () => {
    expect(guessNew({ sent, answers: [assistant("c")] })).toEqual([false, false, false, true, true]);
    expect(guessNew({ sent: [user("a")], answers: [] })).toEqual([true]);
    expect(guessNew({ sent: [user("a"), assistant("prefill")], answers: [] })).toEqual([false, true]);
    expect(guessNew({ sent: [], answers: [assistant("x")] })).toEqual([true]);
  });
});

describe("calls and results in pairs", () => {
  const paired = (messages: unknown[], border = 0) => {
    const isNew = messages.map((_message, place) => place >= border);
    const { history, turn } = toSections({ sent: messages, answers: [], areChoices: false }, isNew);
    return { history: shape(history), turn: shape(turn) };
  };

  test("by id, in any order of the results", () => {
    const { turn } = paired([assistant(null, call("1"), call("2")), result("2", "two"), result("1", "one")]);
    expect(turn).toEqual([["assistant", { call: "1", got: textBlocks("one") }, { call: "2", got: textBlocks("two") }]]);
  });

  test("reused ids", () => {
    const { turn } = paired([
      assistant(null, call("1")),
      result("1", "first"),
      assistant(null, call("1")),
      result("1", "second"),
    ]);
    expect(turn).toEqual([
      ["assistant", { call: "1", got: textBlocks("first") }],
      ["assistant", { call: "1", got: textBlocks("second") }],
    ]);
  });

  test("without ids by name, then by order", () => {
    const { turn } = paired([
      assistant(null, call(undefined, "f"), call(undefined, "g")),
      result(undefined, "of g", "g"),
      result(undefined, "of f"),
    ]);
    expect(turn).toEqual([
      ["assistant", { call: undefined, got: textBlocks("of f") }, { call: undefined, got: textBlocks("of g") }],
    ]);
  });

  test("results in a user message beside its text", () => {
    const message = {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "1", content: "one" },
        { type: "text", text: "go on" },
      ],
    };
    expect(paired([assistant(null, call("1")), message]).turn).toEqual([
      ["assistant", { call: "1", got: textBlocks("one") }],
      ["user", "go on"],
    ]);
  });

  test("a new result of an earlier call is shown with the call", () => {
    const { history, turn } = paired([user("q"), assistant(null, call("1", "look")), result("1", "found")], 2);
    expect(history).toEqual([
      ["user", "q"],
      ["assistant", { call: "1", got: undefined, later: true }],
    ]);
    expect(turn).toEqual([["tool", { result: textBlocks("found"), of: "look" }]]);
  });

  test("results without a call, calls without a result, results before their call", () => {
    const { turn } = paired([result("1", "early"), assistant(null, call("1")), result("9", "of nothing")]);
    expect(turn).toEqual([
      ["tool", { result: textBlocks("early"), of: undefined }],
      ["assistant", { call: "1", got: undefined }],
      ["tool", { result: textBlocks("of nothing"), of: undefined }],
    ]);
  });

  test("pairing twenty thousand calls is fast", () => {
    const messages = Array.from({ length: 20_000 }, (_value, at) => [
      assistant(null, call(`${at}`)),
      result(`${at}`, "x"),
    ]).flat();
    const start = performance.now();
    expect(paired(messages).turn.length).toBe(20_000);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
