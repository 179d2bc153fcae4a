import type { ChatTranslator } from "../provider.ts";
import { readProblem } from "./problem.ts";
import { fromGemini } from "./reply.ts";
import { toGemini } from "./request.ts";
import { createGeminiStream } from "./stream.ts";

/** Google's Gemini API, and Gemini on Vertex AI if the credential has a project. */
export const geminiTranslator: ChatTranslator = {
  request: toGemini,
  reply: fromGemini,
  stream: createGeminiStream,
  problem: readProblem,
};
