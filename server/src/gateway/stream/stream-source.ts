import { isObject, mayBeObject, parseJson } from "../../lib/json.ts";
import { createSseSplitter, plainBlock, SseBlockTooLong, type SseReader } from "../../lib/sse.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import { gatewayLimits } from "../limits.ts";
import { readErrorWithin, usageOf } from "../providers/openai/read-reply.ts";
import type { ChatStreamTranslator, StreamStep, UpstreamProblem } from "../providers/provider.ts";
import { ChunkRepair } from "./chunk-repair.ts";
import { createChunkTemplate } from "./chunk-template.ts";
import { EventRun } from "./event-run.ts";

/** Receives the parts of an upstream's stream in order; nothing after `onDone` or `onProblem`. */
export type StreamSink = {
  /** Called with complete events for the caller. `hasContent`: they contain something that a caller could use. */
  onEvents(events: Buffer | string, hasContent: boolean): void;
  onDone(): void;
  onProblem(problem: UpstreamProblem): void;
};

/** Reads one upstream's stream, collects it in the digest and produces the caller's stream. */
export type StreamSource = {
  push(bytes: Buffer): void;
  /** The upstream closed the stream. An incomplete one ends in a problem, never in an invented finish reason. */
  end(): void;
};

export type SourceOptions = {
  digest: ChatDigest;
  sink: StreamSink;
  wantsUsage: boolean;
  /** Rewrites the usage that the caller requested. */
  mapUsage?: ((usage: Record<string, unknown>) => Record<string, unknown>) | undefined;
};

const truncated: UpstreamProblem = {
  kind: "fault",
  status: 200,
  message: "The provider's stream ended before it was complete.",
  code: "stream_truncated",
  isInterrupted: true,
};

const silent: UpstreamProblem = {
  kind: "fault",
  status: 200,
  message: "The provider's stream said nothing.",
  code: "bad_reply",
};

/**
 * An OpenAI-shaped stream: events are forwarded byte for byte, except comments, broken events, a usage that the caller
 * did not request, and chunks that SDKs could not read unchanged.
 */
export function createOpenaiSource({ digest, sink, wantsUsage, mapUsage }: SourceOptions): StreamSource {
  const splitter = createSseSplitter(gatewayLimits.upstreamEventBytes);
  const template = createChunkTemplate();
  const repair = new ChunkRepair();
  let isOver = false;
  let isSilent = true;
  const run = new EventRun((events, hasContent) => sink.onEvents(events, hasContent));

  const finish = (problem?: UpstreamProblem): void => {
    run.flush();
    isOver = true;
    if (problem === undefined) sink.onDone();
    else sink.onProblem(problem);
  };

  const take = (raw: Buffer, data: string): void => {
    if (data === "[DONE]") return finish(isSilent ? silent : undefined);
    const chunk = parseChunk(data);
    // Drops keep-alives that are not comments, and the like: no client could read them.
    if (chunk === undefined) return undefined;
    const problem = readErrorWithin(chunk);
    if (problem !== undefined) return finish(problem);
    const sound = repair.repair(chunk);
    if (sound === chunk) template.learn(raw, data, chunk);
    const hasContent = digest.add(sound);
    if (hasContent) isSilent = false;
    if (!hasContent && isUsageAlone(chunk)) {
      if (!wantsUsage) return undefined;
      const usage = usageOf(chunk);
      if (mapUsage !== undefined && usage !== undefined) {
        run.flush();
        return sink.onEvents(`data: ${JSON.stringify({ ...sound, usage: mapUsage(usage) })}\n\n`, false);
      }
    }
    return run.add(sound === chunk ? plainBlock(raw) : sseEvent(JSON.stringify(sound)), hasContent);
  };

  /** Forwards the events from `at` on that match the template. Returns where they end. */
  const takeAlike = (bytes: Buffer, at: number): number => {
    let end = at;
    while (template.finds(bytes, end) && digest.addText?.(template.index, bytes, template) === true)
      end = template.end();
    if (end > at) run.add(bytes.subarray(at, end), true);
    return end;
  };

  const reader: SseReader = {
    take({ raw, data }) {
      if (data !== undefined) take(raw, data);
      return !isOver;
    },
    skip: takeAlike,
  };

  return {
    push(bytes) {
      if (isOver) return;
      try {
        splitter.read(bytes, reader);
      } catch (error) {
        if (!(error instanceof SseBlockTooLong)) throw error;
        return finish({ kind: "fault", status: 200, message: "The provider sent an event that is too large." });
      }
      return run.flush();
    },
    end() {
      if (isOver) return;
      const last = splitter.end();
      if (last?.data !== undefined) take(last.raw, last.data);
      if (!isOver) finish(digest.isFinished() ? undefined : truncated);
    },
  };
}

/** Streams a complete completion to a caller who requested a stream. */
export function streamCompletion(completion: Record<string, unknown>, options: SourceOptions): void {
  const source = createOpenaiSource(options);
  for (const chunk of completionChunks(completion)) source.push(sseEvent(JSON.stringify(chunk)));
  source.push(sseEvent("[DONE]"));
}

function sseEvent(data: string): Buffer {
  return Buffer.from(`data: ${data}\n\n`);
}

function parseChunk(data: string): Record<string, unknown> | undefined {
  if (!mayBeObject(data)) return undefined;
  // Most texts contain nothing that `JSON.parse` handles differently.
  try {
    const value: unknown = data.includes("\\u") ? parsed(data) : JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parsed(data: string): unknown {
  const result = parseJson(Buffer.from(data));
  return result.ok ? result.value : undefined;
}

function isUsageAlone(chunk: Record<string, unknown>): boolean {
  const choices = chunk["choices"];
  const isBare = choices === undefined || choices === null || (Array.isArray(choices) && choices.length === 0);
  return isBare && isObject(chunk["usage"]);
}

/** A stream in another wire format, read by its provider's translator. */
export function createTranslatedSource(
  translator: ChatStreamTranslator,
  { digest, sink, wantsUsage, mapUsage }: SourceOptions,
): StreamSource {
  let isOver = false;
  const repair = new ChunkRepair();
  digest.expectUsage(() => translator.usage?.());

  const take = (step: StreamStep, isEnd: boolean): void => {
    let events = "";
    let hasContent = false;
    for (const chunk of step.chunks) {
      const { usage, ...rest } = chunk;
      if (digest.add(chunk)) hasContent = true;
      if (usage === undefined) events += `data: ${JSON.stringify(repair.repair(chunk))}\n\n`;
      else if (wantsUsage) {
        events += `data: ${JSON.stringify({ ...rest, usage: mapUsage ? mapUsage(usage) : usage })}\n\n`;
      } else if (rest.choices.length > 0) events += `data: ${JSON.stringify(rest)}\n\n`;
    }
    if (events !== "") sink.onEvents(events, hasContent);
    if (step.problem === undefined && step.isDone !== true && !isEnd) return;
    isOver = true;
    if (step.problem !== undefined) sink.onProblem(step.problem);
    else if (step.isDone === true) sink.onDone();
    else sink.onProblem(truncated);
  };

  return {
    push(bytes) {
      if (!isOver) take(translator.push(bytes), false);
    },
    end() {
      if (!isOver) take(translator.end(), true);
    },
  };
}

/**
 * A complete completion as the chunks of a stream: per choice one with the message and one with the finish reason, then
 * the usage.
 */
export function completionChunks(completion: Record<string, unknown>): Array<Record<string, unknown>> {
  const { id, choices: listed, usage, ...rest } = completion;
  const head = { id, ...rest, object: "chat.completion.chunk" };
  const choices = Array.isArray(listed) ? (listed as unknown[]).filter(isObject) : [];
  return [
    ...choices.flatMap(({ index, message, finish_reason, ...rest }) => [
      { ...head, choices: [{ index, delta: deltaOf(message), finish_reason: null, ...rest }] },
      { ...head, choices: [{ index, delta: {}, finish_reason }] },
    ]),
    ...(isObject(usage) ? [{ ...head, choices: [], usage }] : []),
  ];
}

/** Each tool call of a delta has an index. */
function deltaOf(message: unknown): Record<string, unknown> {
  if (!isObject(message)) return {};
  const calls = message["tool_calls"];
  if (!Array.isArray(calls)) return message;
  const tool_calls = (calls as unknown[]).map((call, index) => (isObject(call) ? { index, ...call } : call));
  return { ...message, tool_calls };
}
