import type { CallFacts, ChatChunk, ChatDelta, ChatUsage, FinishReason } from "../provider.ts";

/** Creates the chunks of one streamed completion. The first delta of a choice has the role, as OpenAI's does. */
export type ChunkMaker = {
  /** @param index the choice, if several were requested */
  delta(delta: ChatDelta, index?: number): ChatChunk;
  finish(reason: FinishReason, index?: number): ChatChunk;
  usage(usage: ChatUsage): ChatChunk;
};

/** @param id the provider's id of the response, or that of the call if there is none */
export function createChunkMaker(id: string, call: CallFacts): ChunkMaker {
  const started = new Set<number>();
  const chunk = (choices: ChatChunk["choices"]): ChatChunk => ({
    id,
    object: "chat.completion.chunk",
    created: call.created,
    model: call.model,
    choices,
  });
  const choice = (delta: ChatDelta, reason: FinishReason | null, index: number): ChatChunk => {
    const isFirst = !started.has(index);
    started.add(index);
    return chunk([{ index, delta: isFirst ? { role: "assistant", ...delta } : delta, finish_reason: reason }]);
  };
  return {
    delta: (delta, index = 0) => choice(delta, null, index),
    finish: (reason, index = 0) => choice({}, reason, index),
    usage: (usage) => ({ ...chunk([]), usage }),
  };
}
