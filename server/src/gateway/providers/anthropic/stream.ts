import { isObject } from "../../../lib/json.ts";
import { createSseSplitter, SseBlockTooLong, type SseEvent } from "../../../lib/sse.ts";
import { limits } from "../../../limits.ts";
import type {
  CallFacts,
  ChatChunk,
  ChatDelta,
  ChatStreamTranslator,
  StreamStep,
  UpstreamProblem,
} from "../provider.ts";
import { type ChunkMaker, createChunkMaker } from "../shared/chunks.ts";
import { createPairJoiner, type PairJoiner } from "../shared/pair-joiner.ts";
import { jsonToolName } from "../shared/response-format.ts";
import { readStreamError } from "./problem.ts";
import { signedThinking } from "./reasoning.ts";
import { refusalOf, toFinishReason } from "./reply.ts";
import { mergeUsage, toUsage } from "./usage.ts";

/** What is known of a block while it is under way, by its index. */
type OpenBlock = { joiner: PairJoiner } & (
  | { type: "text" }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool"; position: number; hasArguments: boolean; input: unknown }
  /** The tool that stands for a JSON answer: its arguments are text. */
  | { type: "answer"; hasArguments: boolean; input: unknown }
  | { type: "other" }
);

type StreamState = {
  blocks: Map<unknown, OpenBlock>;
  calls: number;
  usage: Record<string, unknown>;
  stopReason: unknown;
  stopDetails: unknown;
  isDone: boolean;
};

/** A stream of the Messages API as chunks. Events of unknown kinds are passed over, as its documentation asks. */
export function createAnthropicStream(call: CallFacts): ChatStreamTranslator {
  const splitter = createSseSplitter(limits.upstreamEventBytes);
  let maker: ChunkMaker | undefined;
  const state: StreamState = {
    blocks: new Map(),
    calls: 0,
    usage: {},
    stopReason: undefined,
    stopDetails: undefined,
    isDone: false,
  };
  let failed: UpstreamProblem | undefined;

  const take = ({ data }: SseEvent): ChatChunk[] => {
    if (data === undefined || state.isDone || failed) return [];
    const event = parseEvent(data);
    if (!event) {
      // Proxies keep connections alive with lines that are no events.
      if (/^\s*(?::|$|\[DONE\])/.test(data)) return [];
      failed = broken("an event of Anthropic's stream is not JSON");
      return [];
    }
    if (event["type"] === "error") {
      failed = readStreamError(event);
      return [];
    }
    if (event["type"] === "message_start" && !maker) {
      const message = isObject(event["message"]) ? event["message"] : {};
      maker = createChunkMaker(typeof message["id"] === "string" ? message["id"] : call.id, call);
      state.usage = mergeUsage(state.usage, message["usage"]);
      return [maker.delta({ content: "" })];
    }
    maker ??= createChunkMaker(call.id, call);
    if (event["type"] !== "message_stop") return takeEvent(event, state, maker);
    if (typeof state.stopReason === "string") return finish(state, maker);
    failed = broken("Anthropic's stream ended without saying why");
    return [];
  };

  const step = (chunks: ChatChunk[]): StreamStep => ({
    chunks,
    ...(failed ? { problem: failed } : {}),
    ...(state.isDone && !failed ? { isDone: true } : {}),
  });

  return {
    push: (bytes) => {
      if (failed || state.isDone) return step([]);
      try {
        return step(splitter.push(bytes).flatMap(take));
      } catch (error) {
        if (!(error instanceof SseBlockTooLong)) throw error;
        failed = broken("an event of Anthropic's stream is too long");
        return step([]);
      }
    },
    end: () => {
      if (!state.isDone) failed ??= broken("Anthropic's stream ended before the answer was complete");
      return step([]);
    },
  };
}

/** Without repair of its text: a character may be cut between two events. */
function parseEvent(data: string): Record<string, unknown> | undefined {
  try {
    const event = JSON.parse(data) as unknown;
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

function broken(message: string): UpstreamProblem {
  return { kind: "fault", status: 200, message };
}

function takeEvent(event: Record<string, unknown>, state: StreamState, maker: ChunkMaker): ChatChunk[] {
  switch (event["type"]) {
    case "content_block_start":
      return startBlock(event, state, maker);
    case "content_block_delta":
      return isObject(event["delta"]) ? continueBlock(event["delta"], state.blocks.get(event["index"]), maker) : [];
    case "content_block_stop": {
      const block = state.blocks.get(event["index"]);
      state.blocks.delete(event["index"]);
      return block ? stopBlock(block, maker) : [];
    }
    case "message_delta": {
      const delta = isObject(event["delta"]) ? event["delta"] : {};
      state.stopReason = delta["stop_reason"] ?? state.stopReason;
      state.stopDetails = delta["stop_details"] ?? state.stopDetails;
      state.usage = mergeUsage(state.usage, event["usage"]);
      return [];
    }
    default:
      return [];
  }
}

function startBlock(event: Record<string, unknown>, state: StreamState, maker: ChunkMaker): ChatChunk[] {
  const content = isObject(event["content_block"]) ? event["content_block"] : {};
  const { index } = event;
  const joiner = createPairJoiner();
  const open = (block: OpenBlock, begun: unknown): ChatChunk[] => {
    state.blocks.set(index, block);
    return typeof begun === "string" ? addText(begun, block, maker) : [];
  };
  switch (content["type"]) {
    case "text":
      return open({ type: "text", joiner }, content["text"]);
    case "thinking": {
      const signature = typeof content["signature"] === "string" ? content["signature"] : "";
      return open({ type: "thinking", thinking: "", signature, joiner }, content["thinking"]);
    }
    case "redacted_thinking":
      state.blocks.set(index, { type: "other", joiner });
      return signedThinking([content]).map((block) => maker.delta({ thinking_blocks: [block] }));
    case "tool_use": {
      const { id, name, input } = content;
      if (name === jsonToolName) return open({ type: "answer", hasArguments: false, input, joiner }, "");
      const position = state.calls;
      state.calls += 1;
      state.blocks.set(index, { type: "tool", position, hasArguments: false, input, joiner });
      const named = { name: String(name), arguments: "" };
      return [maker.delta({ tool_calls: [{ index: position, id: String(id), type: "function", function: named }] })];
    }
    default:
      return open({ type: "other", joiner }, "");
  }
}

function continueBlock(delta: Record<string, unknown>, block: OpenBlock | undefined, maker: ChunkMaker): ChatChunk[] {
  if (!block) return [];
  if (delta["type"] === "signature_delta" && block.type === "thinking" && typeof delta["signature"] === "string") {
    block.signature += delta["signature"];
  }
  const member = memberOfDelta[block.type];
  const text = member === undefined ? undefined : delta[member];
  return typeof text === "string" ? addText(text, block, maker) : [];
}

/** Where the deltas of a kind of block have their text. */
const memberOfDelta: Readonly<Record<OpenBlock["type"], string | undefined>> = {
  text: "text",
  thinking: "thinking",
  tool: "partial_json",
  answer: "partial_json",
  other: undefined,
};

function addText(piece: string, block: OpenBlock, maker: ChunkMaker): ChatChunk[] {
  const text = block.joiner.add(piece);
  return text === "" ? [] : [maker.delta(deltaOf(text, block))];
}

function deltaOf(text: string, block: OpenBlock): ChatDelta {
  if (block.type === "thinking") {
    block.thinking += text;
    return { reasoning_content: text };
  }
  if (block.type === "tool") {
    block.hasArguments = true;
    return { tool_calls: [{ index: block.position, function: { arguments: text } }] };
  }
  if (block.type === "answer") block.hasArguments = true;
  return { content: text };
}

function stopBlock(block: OpenBlock, maker: ChunkMaker): ChatChunk[] {
  const rest = block.joiner.rest();
  const last = rest === "" ? [] : [maker.delta(deltaOf(rest, block))];
  if (block.type === "thinking") {
    return [...last, ...signedThinking([block]).map((signed) => maker.delta({ thinking_blocks: [signed] }))];
  }
  // A call without arguments has no deltas, or empty ones; some servers give the input whole, at the start.
  if ((block.type === "tool" || block.type === "answer") && !block.hasArguments) {
    return addText(JSON.stringify(isObject(block.input) ? block.input : {}), block, maker);
  }
  return last;
}

function finish(state: StreamState, maker: ChunkMaker): ChatChunk[] {
  // Blocks that were not closed are complete all the same: the message is.
  const last = [...state.blocks.values()].flatMap((block) => stopBlock(block, maker));
  state.blocks.clear();
  state.isDone = true;
  const refusal = refusalOf(state.stopDetails);
  const usage = toUsage(state.usage);
  return [
    ...last,
    ...(refusal === undefined ? [] : [maker.delta({ refusal })]),
    maker.finish(toFinishReason(state.stopReason, state.calls > 0)),
    ...(usage ? [maker.usage(usage)] : []),
  ];
}
