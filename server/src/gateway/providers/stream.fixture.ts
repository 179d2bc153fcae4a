import { expect } from "vitest";
import type { CallFacts, ChatChunk, ChatMessage, ChatTranslator, ChatUsage, StreamStep } from "./provider.ts";

/** Helpers for tests of translators' streams. */

export const call: CallFacts = { model: "as-the-caller-says", id: "chatcmpl-1", created: 1_700_000_000 };

export type Streamed = {
  id: string | undefined;
  message: ChatMessage;
  finish: string | undefined;
  usage: ChatUsage | undefined;
  problem: StreamStep["problem"];
  isDone: boolean;
  /** The number of chunks. */
  chunks: number;
};

/** Feeds a new stream with these pieces and assembles its chunks as a client would, checking their order. */
export function runStream(translator: ChatTranslator, pieces: readonly Buffer[]): Streamed {
  const { chunks, chunksAfterFailure, ...end } = feed(translator, pieces);
  expect(chunksAfterFailure).toEqual([]);
  return { ...joinChunks(chunks), ...end };
}

/** Checks that the chunks do not depend on the split: whole, in two at every offset, byte by byte. */
export function runAtEverySplit(translator: ChatTranslator, bytes: Buffer): Streamed {
  const whole = JSON.stringify(feed(translator, [bytes]));
  for (let split = 1; split < bytes.length; split += 1) {
    const halves = feed(translator, [bytes.subarray(0, split), bytes.subarray(split)]);
    // One comparison of texts: an `expect` for each of thousands of splits takes longer than the splits.
    if (JSON.stringify(halves) !== whole) expect({ split, ...halves }).toEqual({ split, ...feed(translator, [bytes]) });
  }
  const single = Array.from(bytes, (byte) => Buffer.from([byte]));
  expect(feed(translator, single)).toEqual(feed(translator, [bytes]));
  return runStream(translator, [bytes]);
}

function feed(translator: ChatTranslator, pieces: readonly Buffer[]) {
  const stream = translator.stream(call);
  const steps = [...pieces.map((piece) => stream.push(piece)), stream.end()];
  const failedAt = steps.findIndex(({ problem }) => problem !== undefined);
  return {
    chunks: steps.flatMap((step) => step.chunks),
    chunksAfterFailure: failedAt === -1 ? [] : steps.slice(failedAt + 1).flatMap((step) => step.chunks),
    problem: steps[failedAt]?.problem,
    isDone: steps.some(({ isDone }) => isDone === true),
  };
}

function joinChunks(chunks: readonly ChatChunk[]): Omit<Streamed, "problem" | "isDone"> {
  const message: ChatMessage = { role: "assistant", content: null };
  let finish: string | undefined;
  let usage: ChatUsage | undefined;
  chunks.forEach((chunk, at) => {
    expect(chunk).toMatchObject({ object: "chat.completion.chunk", created: call.created, model: call.model });
    expect(chunk.id).toBe(chunks[0]?.id);
    expect(JSON.parse(JSON.stringify(chunk))).toEqual(chunk);
    expect(JSON.stringify(chunk)).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/i);
    const [choice] = chunk.choices;
    if (!choice) {
      expect(at).toBe(chunks.length - 1);
      expect(finish).toBeDefined();
      usage = chunk.usage;
      return;
    }
    expect(chunk.usage).toBeUndefined();
    expect(finish).toBeUndefined();
    expect(choice.delta.role).toBe(at === 0 ? "assistant" : undefined);
    addDelta(message, choice.delta);
    finish = choice.finish_reason ?? undefined;
  });
  return { id: chunks[0]?.id, message, finish, usage, chunks: chunks.length };
}

function addDelta(message: ChatMessage, delta: ChatChunk["choices"][number]["delta"]): void {
  if (typeof delta.content === "string" && delta.content !== "")
    message.content = (message.content ?? "") + delta.content;
  if (delta.reasoning_content) message.reasoning_content = (message.reasoning_content ?? "") + delta.reasoning_content;
  if (delta.refusal) message.refusal = (message.refusal ?? "") + delta.refusal;
  if (delta.thinking_blocks) message.thinking_blocks = [...(message.thinking_blocks ?? []), ...delta.thinking_blocks];
  if (delta.annotations) message.annotations = [...(message.annotations ?? []), ...delta.annotations];
  if (delta.images) message.images = [...(message.images ?? []), ...delta.images];
  for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
    const calls = (message.tool_calls ??= []);
    const known = calls[index];
    if (known) {
      expect({ id, type, name: called.name }).toEqual({ id: undefined, type: undefined, name: undefined });
      known.function.arguments += called.arguments;
    } else {
      expect([index, type]).toEqual([calls.length, "function"]);
      calls.push({ id: id!, type: "function", function: { name: called.name!, arguments: called.arguments } });
    }
  }
}
