import type { Convention } from "../convention.ts";
import { adk } from "./adk.ts";
import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { geminiCli } from "./gemini-cli.ts";
import { genAi } from "./gen-ai.ts";
import { genAiEvents } from "./gen-ai-events.ts";
import { genAiIndexed } from "./gen-ai-indexed.ts";
import { generic } from "./generic.ts";
import { genkit } from "./genkit.ts";
import { laminar } from "./laminar.ts";
import { langchain } from "./langchain.ts";
import { langfuse } from "./langfuse.ts";
import { langsmith } from "./langsmith.ts";
import { litellm } from "./litellm.ts";
import { livekit } from "./livekit.ts";
import { logfire } from "./logfire.ts";
import { mastra } from "./mastra.ts";
import { mlflow } from "./mlflow.ts";
import { openinference } from "./openinference.ts";
import { openllmetry } from "./openllmetry.ts";
import { own } from "./own.ts";
import { strands } from "./strands.ts";

/**
 * All vocabularies, the most deliberate first: the product's own keys, then those of observability SDKs, then the
 * semantic conventions from new to old, then leftovers of frameworks. See docs/adding-a-convention.md.
 */
export const conventions: readonly Convention[] = [
  own,
  langfuse,
  laminar,
  geminiCli,
  // Before genAi: it writes part of the semantic conventions beside its own keys, which contain more.
  aiSdk,
  genAi,
  langsmith,
  openinference,
  genAiIndexed,
  genAiEvents,
  strands,
  logfire,
  livekit,
  adk,
  anthropic,
  claudeCode,
  codex,
  mastra,
  genkit,
  litellm,
  mlflow,
  openllmetry,
  langchain,
  generic,
];
