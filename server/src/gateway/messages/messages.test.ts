import fc from "fast-check";
import { expect, test } from "vitest";
import { createSseSplitter } from "../../lib/sse.ts";
import { createChatDigest } from "../chat/chat-digest.ts";
import { fromAnthropic } from "../providers/anthropic/reply.ts";
import { createAnthropicReader } from "../providers/anthropic/stream.ts";
import { readNamedUser, recordedRequest } from "./messages.ts";
import { messageAsEvents } from "./message-as-events.ts";

const facts = { model: "claude", id: "msg", created: 0 };
const text = fc.string({ unit: "grapheme" });
const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record({ type: fc.constant("thinking"), thinking: text, signature: fc.string({ minLength: 1 }) }),
  fc.record({ type: fc.constant("redacted_thinking"), data: fc.string({ minLength: 1 }) }),
  fc.record({ type: fc.constant("tool_use"), id: text, name: text, input: fc.dictionary(text, fc.jsonValue()) }),
  fc.record({ type: fc.constant("web_search_tool_result"), content: fc.array(fc.jsonValue()) }),
);

test("a whole message and its events have the same content", () => {
  fc.assert(
    fc.property(fc.array(block), fc.constantFrom("end_turn", "max_tokens", "tool_use"), (content, stop_reason) => {
      const usage = { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: 5 };
      const message = { id: "msg_1", type: "message", role: "assistant", content, stop_reason, usage };
      const whole = fromAnthropic(Buffer.from(JSON.stringify(message)), facts);
      const reader = createAnthropicReader(facts);
      const digest = createChatDigest();
      const steps = createSseSplitter(1e9)
        .push(Buffer.from(messageAsEvents(message)))
        .map((event) => reader.take(event));
      for (const { chunks } of steps) for (const chunk of chunks) digest.add(chunk);
      expect(steps.at(-1)?.isDone).toBe(true);
      expect(digest.usage()).toEqual(whole.usage);
      expect(digest.finishReasons()).toEqual([whole.choices[0]?.finish_reason]);
      const [recorded] = digest.messages();
      const { content: wholeText, tool_calls, reasoning_content } = whole.choices[0]?.message ?? {};
      expect(recorded?.["content"] ?? "").toEqual(wholeText ?? "");
      expect(recorded?.["reasoning_content"] ?? "").toEqual(reasoning_content ?? "");
      expect(recorded?.["tool_calls"] ?? []).toEqual(tool_calls ?? []);
    }),
  );
});

test("any request can be recorded", () => {
  const member = fc.oneof(
    fc.jsonValue(),
    fc.array(fc.oneof(block, fc.record({ role: text, content: fc.array(block) }))),
  );
  const names = fc.constantFrom("messages", "system", "tools", "tool_choice", "metadata", "max_tokens", "input", "x");
  fc.assert(
    fc.property(fc.dictionary(names, member), (members) => {
      expect(JSON.stringify(recordedRequest(members))).toBeTypeOf("string");
      const { customer = "", session = "" } = readNamedUser(members["metadata"]);
      expect([customer, session].every((name) => typeof name === "string")).toBe(true);
    }),
  );
});
