import type { ChatTranslator } from "../provider.ts";
import { readProblem } from "./problem.ts";
import { fromAnthropic } from "./reply.ts";
import { toAnthropic } from "./request.ts";
import { createAnthropicStream } from "./stream.ts";

/** Anthropic's Messages API. */
export const anthropicTranslator: ChatTranslator = {
  request: toAnthropic,
  reply: fromAnthropic,
  stream: createAnthropicStream,
  problem: readProblem,
  relays: new Set(["messages", "count_tokens"]),
};
