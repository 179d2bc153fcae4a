import type { RawUsage } from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { consumeParameters } from "../read-parameters.ts";
import { toMessages } from "../../../messages/message.ts";
import { readRequest } from "../../../messages/request.ts";
import { readResponse } from "../../../messages/response.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";

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
  usage: ({ bag }) => takeUsage(bag, "langfuse.observation.usage_details"),
  metadataPrefixes: ["langfuse.trace.metadata.", "langfuse.observation.metadata.", "langfuse.metadata."],
  metadataObjects: ["langfuse.trace.metadata", "langfuse.observation.metadata", "langfuse.metadata"],
  content: ({ bag }) => contentOf(bag),
};

function contentOf(bag: AttributeBag): SpanContent {
  const isModel = /^(?:generation|embedding)$/i.test(bag.peekText("langfuse.observation.type") ?? "");
  const isChat = isModel && !isEmbeddingModel(bag);
  const input = takeStated(bag, "langfuse.observation.input", "langfuse.trace.input");
  const output = takeStated(bag, "langfuse.observation.output", "langfuse.trace.output");
  if (!isChat) return { input, output };
  const request =
    typeof input === "string" ? { prompt: toMessages(input, "user"), tools: undefined } : readRequest(input);
  const completions = typeof output === "string" ? toMessages(output, "assistant") : readResponse(output);
  return {
    prompt: request?.prompt,
    input: request ? undefined : input,
    completions,
    output: completions ? undefined : output,
    tools: request?.tools ?? (isObject(input) ? toolsOf(input["tools"]) : undefined),
  };
}

/** The content of the observation; a root repeats it for its trace. */
function takeStated(bag: AttributeBag, ofObservation: string, ofTrace: string): unknown {
  const value = bag.takeAny(ofObservation, ofTrace);
  bag.dropEqual([ofTrace], value);
  return bag.parsed(value);
}

/** Embeddings are sent as generations too, with texts in place of messages. */
function isEmbeddingModel(bag: AttributeBag): boolean {
  const input = bag.peekTree("langfuse.observation.input");
  return Array.isArray(input) && input.length > 0 && (input as unknown[]).every((item) => typeof item === "string");
}

function parametersOf(bag: AttributeBag): Record<string, unknown> {
  return { ...consumeParameters(bag, "langfuse.observation.model.parameters"), cost: takeCost(bag) };
}

/** The cost is the total, otherwise the sum of the parts; if it is 0, the parts carry no information. */
function takeCost(bag: AttributeBag): number | undefined {
  const key = "langfuse.observation.cost_details";
  const details = bag.peekTree(key);
  const cost = isObject(details) ? totalCost(details) : undefined;
  if (!isObject(details) || cost === undefined) return undefined;
  const { total: _total, ...parts } = details;
  bag.restore(key, undefined, cost === 0 ? undefined : parts);
  return cost;
}

function totalCost(cost: Record<string, unknown>): number | undefined {
  if (typeof cost["total"] === "number") return cost["total"];
  const parts = Object.values(cost).filter((part) => typeof part === "number");
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}

/** Takes the counts; the span's own counts cover them, possibly as other sums. Other members are put back. */
function takeUsage(bag: AttributeBag, key: string): RawUsage | undefined {
  const given = bag.peekTree(key);
  if (!isObject(given)) return undefined;
  const usage = usageOf(flattened(given));
  const others = Object.entries(given).filter(
    ([name, value]) =>
      typeof value !== "number" || !(wholes.has(name) || inputPart.test(name) || outputPart.test(name)),
  );
  bag.restore(key, undefined, Object.fromEntries(others));
  return usage;
}

/**
 * Langfuse splits counts into disjoint parts: `input` without cached tokens, `output` without reasoning, unless the
 * total shows that they already include their parts, as people and its Python integration of OpenAI write them.
 */
function usageOf(details: ReadonlyMap<string, number>): RawUsage {
  const count = (...names: string[]): number | undefined =>
    names.map((name) => details.get(name)).find((value) => value !== undefined);
  const input = count(...inputNames);
  const output = count(...outputNames);
  const total = count(...totalNames);
  const cacheWrite5m = count("input_ephemeral_5m_input_tokens", "input_cache_creation_5m");
  const cacheWrite1h = count("input_ephemeral_1h_input_tokens", "input_cache_creation_1h");
  const written = count(
    "cache_creation_input_tokens",
    "input_cache_creation",
    "input_cache_write_tokens",
    "cache_write",
  );
  const parts = {
    cacheRead: count("input_cached_tokens", "cache_read_input_tokens", "input_cache_read", "cache_read"),
    // LangChain sends 0 for the total if it states the lifetimes separately.
    cacheWrite: written === 0 ? undefined : written,
    cacheWrite5m,
    cacheWrite1h,
    reasoning: count("output_reasoning_tokens", "output_reasoning"),
    audioInput: count("input_audio_tokens", "input_audio"),
    audioOutput: count("output_audio_tokens", "output_audio"),
  };
  if (total !== undefined && total === (input ?? 0) + (output ?? 0)) return { input, output, total, ...parts };
  return { input: sumOf(details, inputPart, input), output: sumOf(details, outputPart, output), ...parts };
}

const inputNames = ["input", "prompt", "prompt_tokens", "input_tokens", "promptTokens", "inputTokens"];
const outputNames = ["output", "completion", "completion_tokens", "output_tokens", "completionTokens", "outputTokens"];
const totalNames = ["total", "total_tokens", "totalTokens"];
const wholes: ReadonlySet<string> = new Set([...inputNames, ...outputNames, ...totalNames]);
const inputPart = /^(?:input_(?!tokens$|(?:cache_)?priority)|cache_(?:(?:read|creation)_input_tokens|read|write)$)/;
const outputPart = /^output_(?!tokens$|priority)/;

/** Counts by name. Counts in OpenAI's detail objects get Langfuse's names: `input_cached_tokens` … */
function flattened(given: Record<string, unknown>): Map<string, number> {
  const entries = Object.entries(given).flatMap(([name, value]): Array<[string, unknown]> => {
    const side = /^(prompt|input|completion|output)_tokens?_details$/.exec(name)?.[1];
    if (side === undefined || !isObject(value)) return [[name, value]];
    const prefix = side === "prompt" || side === "input" ? "input" : "output";
    return Object.entries(value).map(([part, count]) => [`${prefix}_${part}`, count]);
  });
  return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] >= 0));
}

function sumOf(details: ReadonlyMap<string, number>, isPart: RegExp, whole: number | undefined): number | undefined {
  const parts = [...details].filter(([name]) => isPart.test(name)).map(([, count]) => count);
  return whole === undefined ? undefined : parts.reduce((total, part) => total + part, whole);
}
