import { isObject } from "../../../lib/json.ts";
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
import { type CitationGatherer, createCitationGatherer } from "../shared/citations.ts";
import { type ChunkMaker, createChunkMaker } from "../shared/chunks.ts";
import { placedThinking } from "../shared/thinking.ts";
import { brokenStream, readEvent } from "../shared/stream-events.ts";
import { BadEventStream, createEventStreamDecoder, type EventMessage } from "./event-stream.ts";
import { readStreamException } from "./problem.ts";
import { citedPage, toFinishReason } from "./reply.ts";
import { toUsage } from "./usage.ts";

type Output = { maker: ChunkMaker; blocks: BlockWriter; citations: CitationGatherer };

type StreamState = {
  stopReason: unknown;
  usage: ChatUsage | undefined;
  problem: UpstreamProblem | undefined;
  isDone: boolean;
};

/** Converts a stream of ConverseStream to chunks. Usage follows the stop, in a separate event that may be missing. */
export function createBedrockStream(call: CallFacts): ChatStreamTranslator {
  const decoder = createEventStreamDecoder(gatewayLimits.upstreamEventBytes);
  const maker = createChunkMaker(call.id, call);
  const output = { maker, blocks: createBlockWriter(maker), citations: createCitationGatherer() };
  const state: StreamState = { stopReason: undefined, usage: undefined, problem: undefined, isDone: false };

  const take = (message: EventMessage): ChatChunk[] => {
    if (state.isDone || state.problem) return [];
    const type = message.headers[":message-type"];
    if (type === "exception" || type === "error") {
      state.problem = readStreamException(
        message.headers[":exception-type"] ?? message.headers[":error-code"],
        message.payload,
      );
      return [];
    }
    const event = readEvent(message.payload.toString("utf8"));
    if (!event) {
      state.problem = brokenStream("an event of Bedrock's stream is not JSON");
      return [];
    }
    const chunks = takeEvent(message.headers[":event-type"], event, state, output);
    return state.stopReason !== undefined && state.usage ? [...chunks, ...finish(state, output)] : chunks;
  };

  const step = (chunks: ChatChunk[]): StreamStep => ({
    chunks,
    ...(state.problem ? { problem: state.problem } : {}),
    ...(state.isDone && !state.problem ? { isDone: true } : {}),
  });

  return {
    push: (bytes) => {
      if (state.problem || state.isDone) return step([]);
      try {
        return step(decoder.push(bytes).flatMap(take));
      } catch (error) {
        if (!(error instanceof BadEventStream)) throw error;
        state.problem = brokenStream(`Bedrock's stream cannot be read: ${error.message}`);
        return step([]);
      }
    },
    end: () => {
      if (state.isDone || state.problem) return step([]);
      if (state.stopReason !== undefined && decoder.isBetweenMessages()) return step(finish(state, output));
      state.problem = brokenStream("Bedrock's stream ended before the answer was complete");
      return step([]);
    },
  };
}

function takeEvent(
  type: string | undefined,
  event: Record<string, unknown>,
  state: StreamState,
  output: Output,
): ChatChunk[] {
  const { maker, blocks, citations } = output;
  const index = event["contentBlockIndex"];
  switch (type ?? "") {
    case "messageStart":
      return [maker.delta({ content: "" })];
    case "contentBlockStart":
      return isObject(event["start"]) ? startBlock(index, event["start"], blocks) : [];
    case "contentBlockDelta":
      return isObject(event["delta"]) ? continueBlock(index, event["delta"], output) : [];
    case "contentBlockStop": {
      const annotations = citations.close(index);
      return [...blocks.close(index), ...(annotations.length > 0 ? [maker.delta({ annotations })] : [])];
    }
    case "messageStop":
      state.stopReason = event["stopReason"];
      return [];
    case "metadata":
      state.usage = toUsage(event["usage"], event["serviceTier"]) ?? state.usage;
      return [];
    default:
      return [];
  }
}

/** Only tool calls and unsupported blocks have a start event with content. */
function startBlock(index: unknown, start: Record<string, unknown>, blocks: BlockWriter): ChatChunk[] {
  const { toolUse } = start;
  if (!isObject(toolUse)) return Object.keys(start).length === 0 ? [] : blocks.open(index, { type: "ignored" });
  if (toolUse["type"] === "server_tool_use") return blocks.open(index, { type: "ignored" });
  return blocks.open(index, { type: "call", id: String(toolUse["toolUseId"]), name: String(toolUse["name"]) });
}

function continueBlock(
  index: unknown,
  delta: Record<string, unknown>,
  { blocks, maker, citations }: Output,
): ChatChunk[] {
  const { text, toolUse, reasoningContent, citation } = delta;
  if (isObject(toolUse)) return typeof toolUse["input"] === "string" ? blocks.add(index, toolUse["input"]) : [];
  if (isObject(reasoningContent)) return continueReasoning(index, reasoningContent, blocks, maker);
  if (typeof text !== "string" && !isObject(citation)) return [];
  const isNew = !blocks.isOpen(index);
  const opened = isNew ? blocks.open(index, { type: "text" }) : [];
  if (isNew) citations.open(index, []);
  if (isObject(citation)) citations.cite(index, citedPage(citation));
  if (typeof text !== "string") return opened;
  citations.addText(index, text);
  return [...opened, ...blocks.add(index, text)];
}

function continueReasoning(
  index: unknown,
  { text, signature, redactedContent }: Record<string, unknown>,
  blocks: BlockWriter,
  maker: ChunkMaker,
): ChatChunk[] {
  if (typeof redactedContent === "string") {
    const block = placedThinking({ type: "redacted_thinking", data: redactedContent }, blocks.place());
    return [maker.delta({ thinking_blocks: [block] })];
  }
  const opened = blocks.isOpen(index) ? [] : blocks.open(index, { type: "thinking" });
  if (typeof signature === "string") blocks.sign(index, signature);
  return [...opened, ...(typeof text === "string" ? blocks.add(index, text) : [])];
}

function finish(state: StreamState, { maker, blocks }: Output): ChatChunk[] {
  const last = blocks.closeAll();
  const reason = toFinishReason(state.stopReason, blocks.calls() > 0);
  if (reason === undefined) {
    state.problem = brokenStream(`Bedrock's model answered with ${String(state.stopReason)}`, state.usage);
    return last;
  }
  state.isDone = true;
  return [...last, maker.finish(reason), ...(state.usage ? [maker.usage(state.usage)] : [])];
}
