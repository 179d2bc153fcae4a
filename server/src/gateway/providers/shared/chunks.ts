import type { CallFacts, ChatChunk, ChatDelta, ChatUsage, FinishReason } from "../provider.ts";

/** The chunks of one streamed completion. The first delta carries the role, as OpenAI's does. */
export type ChunkMaker = {
  delta(delta: ChatDelta): ChatChunk;
  finish(reason: FinishReason): ChatChunk;
  usage(usage: ChatUsage): ChatChunk;
};

/** @param id the provider's id of the answer, or that of the call where it gives none */
export function createChunkMaker(id: string, call: CallFacts): ChunkMaker {
  let isFirst = true;
  const chunk = (choices: ChatChunk["choices"]): ChatChunk => ({
    id,
    object: "chat.completion.chunk",
    created: call.created,
    model: call.model,
    choices,
  });
  const choice = (delta: ChatDelta, reason: FinishReason | null): ChatChunk => {
    const begun = isFirst ? { role: "assistant" as const, ...delta } : delta;
    isFirst = false;
    return chunk([{ index: 0, delta: begun, finish_reason: reason }]);
  };
  return {
    delta: (delta) => choice(delta, null),
    finish: (reason) => choice({}, reason),
    usage: (usage) => ({ ...chunk([]), usage }),
  };
}
