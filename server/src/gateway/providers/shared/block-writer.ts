import { isObject } from "../../../lib/json.ts";
import type { ChatChunk, ChatDelta } from "../provider.ts";
import type { ChunkMaker } from "./chunks.ts";
import { createPairJoiner, type PairJoiner } from "./pair-joiner.ts";
import { jsonToolName } from "./response-format.ts";
import { type Place, placedThinking, signedThinking } from "./thinking.ts";

/**
 * Converts content blocks that arrive in pieces, possibly interleaved and identified by their index, to chunks. Calls
 * are counted from 0 in the order in which they begin; the tool of a JSON response becomes text.
 */
export type BlockWriter = {
  open(index: unknown, block: NewBlock): ChatChunk[];
  isOpen(index: unknown): boolean;
  /** Adds text to a block: content, thinking, or call arguments as JSON text. */
  add(index: unknown, text: string): ChatChunk[];
  /** Adds to the signature of a thinking block. */
  sign(index: unknown, signature: string): void;
  close(index: unknown): ChatChunk[];
  /** Closes all open blocks, when the response is complete. */
  closeAll(): ChatChunk[];
  /** How many calls of the caller's tools have started. */
  calls(): number;
  /** The position in the response, for a thinking block that begins here. */
  place(): Place;
};

/** `input`: complete arguments, for a call without pieces. `ignored`: a block without a counterpart for clients. */
export type NewBlock =
  | { type: "text" | "thinking" | "ignored" }
  | { type: "call"; id: string; name: string; input?: unknown };

type OpenBlock = { joiner: PairJoiner } & (
  | { type: "text" | "ignored" }
  | { type: "thinking"; thinking: string; signature: string; place: Place }
  | { type: "call"; position: number | undefined; input: unknown; hasArguments: boolean }
);

export function createBlockWriter(maker: ChunkMaker): BlockWriter {
  const blocks = new Map<unknown, OpenBlock>();
  let calls = 0;
  let characters = 0;
  const place = (): Place => ({ text: characters, calls });
  const say = (text: string, block: OpenBlock): ChatChunk[] => {
    if (text === "" || block.type === "ignored") return [];
    const delta = deltaOf(text, block);
    characters += delta.content?.length ?? 0;
    return [maker.delta(delta)];
  };

  const close = (index: unknown): ChatChunk[] => {
    const block = blocks.get(index);
    blocks.delete(index);
    if (!block) return [];
    const rest = say(block.joiner.rest(), block);
    if (block.type === "thinking") {
      const signed = signedThinking([block]).map((one) => placedThinking(one, block.place));
      return [...rest, ...signed.map((one) => maker.delta({ thinking_blocks: [one] }))];
    }
    // A call without arguments has no pieces, or only empty ones.
    if (block.type !== "call" || block.hasArguments) return rest;
    return [...rest, ...say(JSON.stringify(isObject(block.input) ? block.input : {}), block)];
  };

  return {
    open: (index, block) => {
      const joiner = createPairJoiner();
      if (block.type === "thinking")
        blocks.set(index, { type: "thinking", thinking: "", signature: "", place: place(), joiner });
      else if (block.type !== "call") blocks.set(index, { type: block.type, joiner });
      else {
        const position = block.name === jsonToolName ? undefined : calls;
        blocks.set(index, { type: "call", position, input: block.input, hasArguments: false, joiner });
        if (position === undefined) return [];
        calls += 1;
        const started = { name: block.name, arguments: "" };
        return [maker.delta({ tool_calls: [{ index: position, id: block.id, type: "function", function: started }] })];
      }
      return [];
    },
    isOpen: (index) => blocks.has(index),
    add: (index, text) => {
      const block = blocks.get(index);
      return block ? say(block.joiner.add(text), block) : [];
    },
    sign: (index, signature) => {
      const block = blocks.get(index);
      if (block?.type === "thinking") block.signature += signature;
    },
    close,
    closeAll: () => [...blocks.keys()].flatMap(close),
    calls: () => calls,
    place,
  };
}

function deltaOf(text: string, block: OpenBlock): ChatDelta {
  if (block.type === "thinking") {
    block.thinking += text;
    return { reasoning_content: text };
  }
  if (block.type !== "call") return { content: text };
  block.hasArguments = true;
  if (block.position === undefined) return { content: text };
  return { tool_calls: [{ index: block.position, function: { arguments: text } }] };
}
