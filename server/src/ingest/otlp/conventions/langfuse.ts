import type { RawUsage } from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { holdsMessages, toMessages } from "../messages/message.ts";
import { toolsOf } from "../messages/tool-calls.ts";

/** https://langfuse.com/integrations/native/opentelemetry */
export const langfuse: Convention = {
  name: "langfuse",
  applies: ({ bag }) => bag.hasFamily("langfuse"),
  fields: {
    model: ["langfuse.observation.model.name"],
    customer_identifier: ["langfuse.user.id", "user.id"],
    thread_identifier: ["langfuse.session.id", "session.id"],
    span_workflow_name: ["langfuse.trace.name"],
    prompt_name: ["langfuse.observation.prompt.name", "langfuse.prompt.name"],
    prompt_version_number: ["langfuse.observation.prompt.version", "langfuse.prompt.version"],
  },
  derive: ({ bag }) => parametersOf(bag),
  usage: ({ bag }) => usageOf(bag.takeTree("langfuse.observation.usage_details")),
  metadataPrefixes: ["langfuse.trace.metadata.", "langfuse.observation.metadata.", "langfuse.metadata."],
  metadataObjects: ["langfuse.trace.metadata", "langfuse.observation.metadata", "langfuse.metadata"],
  content: ({ bag }) => contentOf(bag),
};

function contentOf(bag: AttributeBag): SpanContent {
  const isModel = /^(?:generation|embedding)$/i.test(bag.peekText("langfuse.observation.type") ?? "");
  const isEmbedding = isEmbeddingModel(bag);
  const input = bag.takeTree("langfuse.observation.input", "langfuse.trace.input");
  const output = bag.takeTree("langfuse.observation.output", "langfuse.trace.output");
  if (!isModel || isEmbedding) return { input, output };
  const messages = isObject(input) ? (input["messages"] ?? input["input"]) : input;
  const hasMessages = holdsMessages(messages) || (typeof messages === "string" && messages !== "");
  return {
    prompt: hasMessages ? toMessages(messages, "user") : undefined,
    input: hasMessages ? undefined : input,
    completions: holdsMessages(output) || typeof output === "string" ? toMessages(output, "assistant") : undefined,
    output: holdsMessages(output) || typeof output === "string" ? undefined : output,
    tools: isObject(input) ? toolsOf(input["tools"]) : undefined,
  };
}

/** Embeddings come as generations too, with texts where messages would be. */
function isEmbeddingModel(bag: AttributeBag): boolean {
  const input = bag.peekTree("langfuse.observation.input");
  return Array.isArray(input) && input.length > 0 && (input as unknown[]).every((item) => typeof item === "string");
}

function parametersOf(bag: AttributeBag): Record<string, unknown> {
  const cost = bag.takeTree("langfuse.observation.cost_details");
  const given = bag.peekTree("langfuse.observation.model.parameters");
  const derived: Record<string, unknown> = { cost: isObject(cost) ? totalCost(cost) : undefined };
  if (!isObject(given)) return derived;
  bag.drop("langfuse.observation.model.parameters");
  const parameter = (...names: string[]): unknown =>
    names.map((name) => given[name]).find((value) => value !== undefined && value !== null && value !== "");
  return {
    ...derived,
    temperature: parameter("temperature"),
    top_p: parameter("top_p", "topP"),
    max_tokens: parameter("max_tokens", "maxTokens", "max_output_tokens", "max_completion_tokens"),
    frequency_penalty: parameter("frequency_penalty"),
    presence_penalty: parameter("presence_penalty"),
    stream: parameter("stream"),
    tool_choice: parameter("tool_choice"),
    response_format: parameter("response_format"),
    stop: parameter("stop"),
  };
}

function totalCost(cost: Record<string, unknown>): number | undefined {
  if (typeof cost["total"] === "number") return cost["total"];
  const parts = Object.values(cost).filter((part) => typeof part === "number");
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}

/**
 * Langfuse splits counts into disjoint parts: `input` without what was cached, `output` without reasoning, unless the
 * total says that they hold their parts already, as people write them by hand.
 */
function usageOf(details: unknown): RawUsage | undefined {
  if (!isObject(details)) return undefined;
  const count = (...names: string[]): number | undefined => {
    const value = names.map((name) => details[name]).find((given) => typeof given === "number" && given >= 0);
    return value as number | undefined;
  };
  const input = count("input", "prompt_tokens", "input_tokens");
  const output = count("output", "completion_tokens", "output_tokens");
  const total = count("total", "total_tokens");
  const cacheRead = count("input_cached_tokens", "cache_read_input_tokens", "input_cache_read");
  const cacheWrite = count("cache_creation_input_tokens", "input_cache_creation");
  const reasoning = count("output_reasoning_tokens", "output_reasoning");
  const audioInput = count("input_audio_tokens", "input_audio");
  const audioOutput = count("output_audio_tokens", "output_audio");
  const isWhole = total !== undefined && total === (input ?? 0) + (output ?? 0);
  const parts = { cacheRead, cacheWrite, reasoning, audioInput, audioOutput };
  if (isWhole) return { input, output, total, ...parts };
  return {
    input: sum(input, cacheRead, cacheWrite, audioInput),
    output: sum(output, reasoning, audioOutput),
    ...parts,
  };
}

function sum(whole: number | undefined, ...parts: Array<number | undefined>): number | undefined {
  return whole === undefined ? undefined : parts.reduce<number>((total, part) => total + (part ?? 0), whole);
}
