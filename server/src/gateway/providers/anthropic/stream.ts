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
import { type BlockWriter, createBlockWriter } from "../shared/block-writer.ts";
import { type ChunkMaker, createChunkMaker } from "../shared/chunks.ts";
import { type CitationGatherer, createCitationGatherer } from "../shared/citations.ts";
import { placedThinking, signedThinking } from "../shared/thinking.ts";
import { brokenStream, readEvent } from "../shared/stream-events.ts";
import { readStreamError } from "./problem.ts";
import { refusalOf, toFinishReason } from "./reply.ts";
import { mergeUsage, toUsage } from "./usage.ts";

type Output = { maker: ChunkMaker; blocks: BlockWriter; citations: CitationGatherer };

type StreamState = {
  /** Created when the response begins. */
  output: Output | undefined;
  usage: Record<string, unknown>;
  stopReason: unknown;
  stopDetails: unknown;
  isDone: boolean;
};

/** Reads the events of one stream, one by one. Must not be called after a step with `isDone` or a problem. */
export type AnthropicReader = {
  take(event: SseEvent): StreamStep;
  /** The usage reported so far. */
  usage(): ChatUsage | undefined;
};

/**
 * Converts a stream of the Messages API to chunks. Events of unknown kinds are ignored, as the documentation requires.
 */
export function createAnthropicReader(call: CallFacts): AnthropicReader {
  const state: StreamState = {
    output: undefined,
    usage: {},
    stopReason: undefined,
    stopDetails: undefined,
    isDone: false,
  };
  const failed = (problem: UpstreamProblem): StreamStep => ({ chunks: [], problem });
  return {
    take({ data }) {
      if (data === undefined) return { chunks: [] };
      const event = readEvent(data);
      if (!event) {
        // Proxies keep connections alive with lines that are not events.
        if (/^\s*(?::|$|\[DONE\])/.test(data)) return { chunks: [] };
        return failed(brokenStream("an event of Anthropic's stream is not JSON"));
      }
      if (event["type"] === "error" || isForeignError(event)) return failed(readStreamError(event));
      if (event["type"] === "message_stop" && typeof state.stopReason !== "string") {
        return failed(brokenStream("Anthropic's stream ended without saying why"));
      }
      const chunks = takeEvent(event, state, call);
      return state.isDone ? { chunks, isDone: true } : { chunks };
    },
    usage: () => toUsage(state.usage),
  };
}

/**
 * Whether this is an error in OpenAI's format: an event with `error` and without `type`. Proxies that serve both formats
 * send it.
 */
function isForeignError(event: Record<string, unknown>): boolean {
  const { type, error } = event;
  return typeof type !== "string" && (isObject(error) || typeof error === "string");
}

/** Converts a stream as `createAnthropicReader` does, from chunks of bytes of any size instead of complete events. */
export function createAnthropicStream(call: CallFacts): ChatStreamTranslator {
  const splitter = createSseSplitter(gatewayLimits.upstreamEventBytes);
  const reader = createAnthropicReader(call);
  let last: StreamStep | undefined;

  const takeAll = (events: Iterable<SseEvent>): StreamStep => {
    const chunks: ChatChunk[] = [];
    for (const event of events) {
      const step = reader.take(event);
      chunks.push(...step.chunks);
      if (step.problem === undefined && step.isDone !== true) continue;
      last = { ...step, chunks: [] };
      break;
    }
    return { ...last, chunks };
  };
  const broken = (message: string): StreamStep => (last = { chunks: [], problem: brokenStream(message) });

  return {
    push: (bytes) => {
      if (last !== undefined) return last;
      try {
        return takeAll(splitter.push(bytes));
      } catch (error) {
        if (!(error instanceof SseBlockTooLong)) throw error;
        return broken("an event of Anthropic's stream is too long");
      }
    },
    end: () => {
      if (last !== undefined) return last;
      const event = splitter.end();
      const step = takeAll(event?.data !== undefined && readEvent(event.data) ? [event] : []);
      if (last !== undefined) return step;
      return { ...broken("Anthropic's stream ended before the answer was complete"), chunks: step.chunks };
    },
    usage: () => reader.usage(),
  };
}

function takeEvent(event: Record<string, unknown>, state: StreamState, call: CallFacts): ChatChunk[] {
  if (event["type"] === "message_start") {
    const message = isObject(event["message"]) ? event["message"] : {};
    state.usage = mergeUsage(state.usage, message["usage"]);
    if (state.output) return [];
    state.output = createOutput(typeof message["id"] === "string" ? message["id"] : call.id, call);
    return [state.output.maker.delta({ content: "" })];
  }
  if (!answering.has(event["type"])) return [];
  state.output ??= createOutput(call.id, call);
  const { maker, blocks, citations } = state.output;
  const { index } = event;
  switch (event["type"]) {
    case "content_block_start":
      return isObject(event["content_block"]) ? startBlock(index, event["content_block"], state.output) : [];
    case "content_block_delta":
      return isObject(event["delta"]) ? continueBlock(index, event["delta"], state.output) : [];
    case "content_block_stop": {
      const annotations = citations.close(index);
      return [...blocks.close(index), ...(annotations.length > 0 ? [maker.delta({ annotations })] : [])];
    }
    case "message_delta": {
      const delta = isObject(event["delta"]) ? event["delta"] : {};
      state.stopReason = delta["stop_reason"] ?? state.stopReason;
      state.stopDetails = delta["stop_details"] ?? state.stopDetails;
      state.usage = mergeUsage(state.usage, event["usage"]);
      return [];
    }
    case "message_stop":
      return finish(state, maker, blocks);
    default:
      return [];
  }
}

/** Events of a response, in case `message_start` is missing. */
const answering = new Set<unknown>([
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
]);

function createOutput(id: string, call: CallFacts): Output {
  const maker = createChunkMaker(id, call);
  return { maker, blocks: createBlockWriter(maker), citations: createCitationGatherer() };
}

function startBlock(index: unknown, content: Record<string, unknown>, output: Output): ChatChunk[] {
  const { blocks, maker, citations } = output;
  switch (content["type"]) {
    case "text":
      citations.open(index, content["citations"]);
      return [...blocks.open(index, { type: "text" }), ...addText(index, content["text"], output)];
    case "thinking": {
      const opened = blocks.open(index, { type: "thinking" });
      if (typeof content["signature"] === "string") blocks.sign(index, content["signature"]);
      return [...opened, ...addText(index, content["thinking"], output)];
    }
    case "redacted_thinking":
      return signedThinking([content]).map((block) =>
        maker.delta({ thinking_blocks: [placedThinking(block, blocks.place())] }),
      );
    case "tool_use": {
      const { id, name, input } = content;
      return blocks.open(index, { type: "call", id: String(id), name: String(name), input });
    }
    default:
      return blocks.open(index, { type: "ignored" });
  }
}

/** The member with the text of each kind of delta. */
const textMembers: ReadonlyMap<unknown, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["input_json_delta", "partial_json"],
]);

function continueBlock(index: unknown, delta: Record<string, unknown>, output: Output): ChatChunk[] {
  const { type, signature } = delta;
  if (type === "signature_delta" && typeof signature === "string") output.blocks.sign(index, signature);
  if (type === "citations_delta") output.citations.cite(index, delta["citation"]);
  const member = textMembers.get(type);
  return member === undefined ? [] : addText(index, delta[member], output);
}

function addText(index: unknown, text: unknown, { blocks, citations }: Output): ChatChunk[] {
  if (typeof text !== "string") return [];
  citations.addText(index, text);
  return blocks.add(index, text);
}

function finish(state: StreamState, maker: ChunkMaker, blocks: BlockWriter): ChatChunk[] {
  state.isDone = true;
  const refusal = refusalOf(state.stopDetails);
  const usage = toUsage(state.usage);
  return [
    ...blocks.closeAll(),
    ...(refusal === undefined ? [] : [maker.delta({ refusal })]),
    maker.finish(toFinishReason(state.stopReason, blocks.calls() > 0)),
    ...(usage ? [maker.usage(usage)] : []),
  ];
}
