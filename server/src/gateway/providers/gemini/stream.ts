import { isObject } from "../../../lib/json.ts";
import { createSseSplitter, SseBlockTooLong, type SseEvent } from "../../../lib/sse.ts";
import { gatewayLimits } from "../../limits.ts";
import type {
  CallFacts,
  ChatChunk,
  ChatStreamTranslator,
  ChatUsage,
  StreamStep,
  UpstreamProblem,
} from "../provider.ts";
import { type ChunkMaker, createChunkMaker } from "../shared/chunks.ts";
import { createPairJoiner, type PairJoiner } from "../shared/pair-joiner.ts";
import { brokenStream, readEvent } from "../shared/stream-events.ts";
import {
  blockOf,
  createCallIds,
  readPart,
  refusalOf,
  type CandidateItem,
  toFinishReason,
  toLogprobs,
} from "./candidate.ts";
import { readStreamError } from "./problem.ts";
import { citationsOf, searchesOf } from "./grounding.ts";
import { mergeUsage, toUsage } from "./usage.ts";

/** One of the candidates in progress. */
type Answer = {
  /** Holds back half a surrogate pair: of the content, or of the thoughts. */
  joiner: PairJoiner;
  kind: "text" | "thought";
  calls: number;
  finishReason: unknown;
  refusal: string | undefined;
  /** The content so far, for the citations that arrive at the end. */
  text: string;
  grounding: unknown;
};

type StreamState = {
  maker: ChunkMaker | undefined;
  answers: Map<number, Answer>;
  usage: Record<string, unknown>;
  block: string | undefined;
};

/**
 * Converts a stream of streamGenerateContent to chunks. It has no end marker: older models send a finish reason with
 * every event, so a response is complete if the stream closes after one.
 */
export function createGeminiStream(call: CallFacts): ChatStreamTranslator {
  const splitter = createSseSplitter(gatewayLimits.upstreamEventBytes);
  const state: StreamState = { maker: undefined, answers: new Map(), usage: {}, block: undefined };
  const idOf = createCallIds(call.id);
  let failed: UpstreamProblem | undefined;
  let isDone = false;

  const take = ({ data }: SseEvent): ChatChunk[] => {
    if (data === undefined || failed) return [];
    const event = readEvent(data);
    if (event && event["error"] === undefined) return takeEvent(event, state, call, idOf);
    // Proxies keep connections alive with lines that are not events.
    if (event) failed = readStreamError(event["error"]);
    else if (!/^\s*(?::|$|\[DONE\])/.test(data)) failed = brokenStream("an event of Gemini's stream is not JSON");
    return [];
  };

  const step = (chunks: ChatChunk[]): StreamStep => ({
    chunks,
    ...(failed ? { problem: failed } : {}),
    ...(isDone && !failed ? { isDone: true } : {}),
  });

  return {
    push: (bytes) => {
      if (failed || isDone) return step([]);
      try {
        return step(splitter.push(bytes).flatMap(take));
      } catch (error) {
        if (!(error instanceof SseBlockTooLong)) throw error;
        failed = brokenStream("an event of Gemini's stream is too long");
        return step([]);
      }
    },
    end: () => {
      if (failed || isDone) return step([]);
      const rest = splitter.rest().toString("latin1").trim();
      const last = splitter.end();
      const isEvent = last?.data !== undefined && readEvent(last.data) !== undefined;
      const lastChunks = isEvent ? take(last) : [];
      if (failed) return step(lastChunks);
      // Remaining bytes that are not an event are a truncated event.
      if (!isComplete(state) || (rest !== "" && !isEvent)) {
        failed = brokenStream("Gemini's stream ended before the answer was complete");
        return step(lastChunks);
      }
      const { chunks, problem } = finish(state, state.maker ?? createChunkMaker(call.id, call));
      failed = problem;
      isDone = true;
      return step([...lastChunks, ...chunks]);
    },
    usage: () => usageOf(state),
  };
}

function takeEvent(
  event: Record<string, unknown>,
  state: StreamState,
  call: CallFacts,
  idOf: (given: unknown) => string,
): ChatChunk[] {
  const { responseId } = event;
  const maker = (state.maker ??= createChunkMaker(typeof responseId === "string" ? responseId : call.id, call));
  state.usage = mergeUsage(state.usage, event["usageMetadata"]);
  state.block ??= blockOf(event);
  const candidates = Array.isArray(event["candidates"]) ? (event["candidates"] as unknown[]) : [];
  return candidates.filter(isObject).flatMap((candidate, i) => {
    const index = typeof candidate["index"] === "number" ? candidate["index"] : i;
    return takeCandidate(candidate, index, answerOf(state, index), maker, idOf);
  });
}

function answerOf({ answers }: StreamState, index: number): Answer {
  const known = answers.get(index);
  if (known) return known;
  const answer: Answer = {
    joiner: createPairJoiner(),
    kind: "text",
    calls: 0,
    finishReason: undefined,
    refusal: undefined,
    text: "",
    grounding: undefined,
  };
  answers.set(index, answer);
  return answer;
}

function takeCandidate(
  candidate: Record<string, unknown>,
  index: number,
  answer: Answer,
  maker: ChunkMaker,
  idOf: (given: unknown) => string,
): ChatChunk[] {
  const { content, finishReason } = candidate;
  const parts = isObject(content) && Array.isArray(content["parts"]) ? (content["parts"] as unknown[]) : [];
  const chunks = parts.flatMap((part) => {
    const item = readPart(part, idOf);
    return item ? addItem(item, index, answer, maker) : [];
  });
  if (typeof finishReason === "string") answer.finishReason = finishReason;
  answer.refusal = refusalOf(candidate) ?? answer.refusal;
  // A repeated value is more complete than the one before.
  answer.grounding = candidate["groundingMetadata"] ?? answer.grounding;
  const logprobs = toLogprobs(candidate["logprobsResult"]);
  if (logprobs && chunks.length === 0) chunks.push(maker.delta({}, index));
  const last = chunks.at(-1)?.choices[0];
  if (logprobs && last) last.logprobs = logprobs;
  return chunks;
}

function addItem(item: CandidateItem, index: number, answer: Answer, maker: ChunkMaker): ChatChunk[] {
  if (item.type === "call") {
    const position = answer.calls;
    answer.calls += 1;
    return [...flush(index, answer, maker), maker.delta({ tool_calls: [{ index: position, ...item.call }] }, index)];
  }
  if (item.type === "image") {
    return [...flush(index, answer, maker), maker.delta({ images: [item.image] }, index)];
  }
  const before = item.type === answer.kind ? [] : flush(index, answer, maker);
  answer.kind = item.type;
  return [...before, ...write(answer.joiner.add(item.text), index, answer, maker)];
}

function flush(index: number, answer: Answer, maker: ChunkMaker): ChatChunk[] {
  return write(answer.joiner.rest(), index, answer, maker);
}

function write(text: string, index: number, answer: Answer, maker: ChunkMaker): ChatChunk[] {
  if (text === "") return [];
  if (answer.kind === "thought") return [maker.delta({ reasoning_content: text }, index)];
  if (answer.text.length < gatewayLimits.recordedChars) answer.text += text;
  return [maker.delta({ content: text }, index)];
}

function usageOf({ usage, answers }: StreamState): ChatUsage | undefined {
  const searches = [...answers.values()].reduce((sum, { grounding }) => sum + searchesOf(grounding), 0);
  return toUsage(usage, searches);
}

function isComplete({ answers, block }: StreamState): boolean {
  if (answers.size === 0) return block !== undefined;
  return [...answers.values()].every(({ finishReason }) => finishReason !== undefined);
}

function finish(state: StreamState, maker: ChunkMaker): { chunks: ChatChunk[]; problem: UpstreamProblem | undefined } {
  const chunks: ChatChunk[] = [];
  const usage = usageOf(state);
  if (state.answers.size === 0)
    chunks.push(maker.delta({ refusal: state.block ?? "" }), maker.finish("content_filter"));
  for (const [index, answer] of state.answers) {
    const reason = toFinishReason(answer.finishReason, answer.calls > 0);
    chunks.push(...flush(index, answer, maker));
    if (reason === undefined) {
      return { chunks, problem: brokenStream(`Gemini's model stopped with ${String(answer.finishReason)}`, usage) };
    }
    const annotations = citationsOf(answer.grounding, answer.text);
    if (annotations.length > 0) chunks.push(maker.delta({ annotations }, index));
    if (answer.refusal !== undefined) chunks.push(maker.delta({ refusal: answer.refusal }, index));
    chunks.push(maker.finish(reason, index));
  }
  return { chunks: usage ? [...chunks, maker.usage(usage)] : chunks, problem: undefined };
}
