import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../lib/json.ts";
import { createSseSplitter } from "../../lib/sse.ts";
import { createChatDigest } from "../chat/chat-digest.ts";
import { createOpenaiSource } from "./stream-source.ts";

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", model: "m" };
const chunkOf = (index: number, delta: object): object => ({
  ...head,
  choices: [{ index, delta, finish_reason: null }],
});

/** Typical stream chunks: mostly text, sometimes of another choice, a thought or a call, and events without content. */
const event = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: "grapheme" }).map((content) => chunkOf(0, { content })) },
  { weight: 2, arbitrary: fc.string({ unit: "binary" }).map((content) => chunkOf(0, { content })) },
  { weight: 1, arbitrary: fc.string().map((content) => chunkOf(1, { content })) },
  { weight: 1, arbitrary: fc.string().map((reasoning_content) => chunkOf(0, { reasoning_content })) },
  { weight: 1, arbitrary: fc.constant(chunkOf(0, {})) },
  { weight: 1, arbitrary: fc.constant({ ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }) },
);

/** Parses JSON as the gateway does: without NUL and lone surrogates. */
function readBack(chunk: object): Record<string, unknown> {
  const parsed = parseJson(Buffer.from(JSON.stringify(chunk)));
  return parsed.ok ? (parsed.value as Record<string, unknown>) : {};
}

test("a stream is forwarded byte for byte and read correctly, wherever it is split", () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 30 }),
      fc.uniqueArray(fc.nat(6_000), { maxLength: 20 }),
      fc.constantFrom("\n\n", "\r\n\r\n"),
      (events, offsets, blankLine) => {
        // A stream without content is a fault of its own.
        const chunks = [chunkOf(0, { content: "first" }), ...events];
        const bytes = Buffer.from(
          [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"]
            .map((data) => `data: ${data}${blankLine}`)
            .join(""),
        );
        const sent: Buffer[] = [];
        let isDone = false;
        const digest = createChatDigest();
        const source = createOpenaiSource({
          digest,
          wantsUsage: true,
          sink: {
            onEvents: (bytes) => void sent.push(Buffer.from(bytes)),
            onDone: () => void (isDone = true),
            onProblem: ({ message }) => expect.unreachable(message),
          },
        });
        const at = [0, ...offsets.filter((offset) => offset < bytes.length).toSorted((a, b) => a - b), bytes.length];
        for (const [index, end] of at.entries()) source.push(bytes.subarray(at[index - 1] ?? 0, end));

        const whole = createChatDigest();
        for (const chunk of chunks) whole.add(readBack(chunk));
        expect(isDone).toBe(true);
        expect(digest.messages()).toEqual(whole.messages());
        expect([digest.chars(), digest.usage(), digest.id()]).toEqual([whole.chars(), whole.usage(), whole.id()]);
        const passed = Buffer.concat([...sent, Buffer.from("data: [DONE]\n\n")]);
        expect(blankLine === "\r\n\r\n" || passed.equals(bytes)).toBe(true);
        // The LF of a final CR LF may be lost with an event that is not forwarded; no reader sees the difference.
        const datas = (stream: Buffer) =>
          createSseSplitter(1e6)
            .push(stream)
            .flatMap(({ data }) => data ?? []);
        expect(datas(passed)).toEqual(datas(bytes));
      },
    ),
    { numRuns: 200 },
  );
});

test.each([
  ["blank lines with LF", "\n", 256],
  ["blank lines with CR LF", "\r\n", 256],
  ["comments", ":\n\n", 256],
  ["events without data", "id: 1\n\n", 256],
  ["events with empty data", "data:\n\n", 64],
  ["events with several lines of empty data", "data:\ndata:\n\n", 64],
  ["words that are not JSON", "data: ping\n\n", 64],
  ["objects cut short", "data:{\n\n", 64],
])("a flood of %s is cheap, and the stream continues after it", (_what, tiny, reads) => {
  let text = "";
  let isDone = false;
  const source = createOpenaiSource({
    digest: createChatDigest(),
    wantsUsage: true,
    sink: {
      onEvents: (bytes) => void (text += bytes.toString()),
      onDone: () => void (isDone = true),
      onProblem: ({ message }) => expect.unreachable(message),
    },
  });
  const read = Buffer.from(tiny.repeat(Math.ceil((64 << 10) / tiny.length)));
  const began = process.threadCpuUsage();
  for (let count = 0; count < reads; count += 1) source.push(read);
  expect(process.threadCpuUsage(began).user).toBeLessThan(2_000_000);
  const hello = `data: ${JSON.stringify(chunkOf(0, { content: "hello" }))}\n\n`;
  source.push(Buffer.from(`${hello}data: [DONE]\n\n`));
  expect([text, isDone]).toEqual([hello, true]);
});
