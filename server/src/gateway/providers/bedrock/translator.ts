import type { ChatTranslator } from "../provider.ts";
import { readProblem } from "./problem.ts";
import { fromBedrock } from "./reply.ts";
import { toBedrock } from "./request.ts";
import { createBedrockStream } from "./stream.ts";

/** Amazon Bedrock's Converse API, for every model behind it. */
export const bedrockTranslator: ChatTranslator = {
  request: toBedrock,
  reply: fromBedrock,
  stream: createBedrockStream,
  problem: readProblem,
};
