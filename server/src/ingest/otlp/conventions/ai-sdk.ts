import { cacheWritesOf, type RawUsage } from "../../../domain/usage.ts";
import { isObject } from "../../../lib/json.ts";
import { wordIn } from "../../../messages/json-word.ts";
import { toMessages, withSystem, type Message } from "../../../messages/message.ts";
import { systemText } from "../../../messages/request.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { readUsageMembers } from "../../../pricing/usage-object.ts";
import * as read from "../../../validation/field-readers.ts";
import { asText, type AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";

/** The user's own values: telemetry metadata up to version 6, runtime context from 7 on. */
const usersOwnPrefixes = ["ai.telemetry.metadata.", "ai.settings.context."];
const usersOwn = (...names: readonly string[]): string[] =>
  usersOwnPrefixes.flatMap((prefix) => names.map((name) => prefix + name));

/** The Vercel AI SDK 3 to 6. Version 7 only writes the GenAI conventions. */
export const aiSdk: Convention = {
  name: "ai-sdk",
  applies: ({ bag }) => bag.hasFamily("ai", "aisdk"),
  fields: {
    model: ["ai.response.model", "ai.model.id", "aisdk.model.id"],
    provider_id: ["ai.model.provider", "aisdk.model.provider"],
    temperature: ["ai.settings.temperature"],
    top_p: ["ai.settings.topP"],
    max_tokens: ["ai.settings.maxOutputTokens", "ai.settings.maxTokens"],
    frequency_penalty: ["ai.settings.frequencyPenalty"],
    presence_penalty: ["ai.settings.presencePenalty"],
    stop: ["ai.settings.stopSequences"],
    response_id: ["ai.response.id"],
    tokens_per_second: ["ai.response.avgOutputTokensPerSecond"],
    tool_choice: ["ai.prompt.toolChoice"],
    span_workflow_name: ["ai.telemetry.functionId", "ai.functionId"],
    prompt_unit_price: ["ai.telemetry.metadata.prompt_unit_price"],
    completion_unit_price: ["ai.telemetry.metadata.completion_unit_price"],
    customer_params: ["ai.telemetry.metadata.customer_params"],
    customer_identifier: usersOwn("customer_identifier", "userId", "user_id"),
    customer_email: ["ai.telemetry.metadata.customer_email"],
    customer_name: ["ai.telemetry.metadata.customer_name"],
    thread_identifier: usersOwn(
      "thread_identifier",
      "threadId",
      "thread_id",
      "conversationId",
      "conversation_id",
      "sessionId",
      "session_id",
    ),
  },
  derive: ({ bag }) => {
    const operation = bag.peekText("ai.operationId") ?? "";
    bag.drop("operation.name", "resource.name");
    return {
      span_name: operation === "ai.toolCall" ? bag.peekText("ai.toolCall.name") : undefined,
      ...promptOfLangfuse(bag),
      stream: /\.doStream$|^ai\.stream(?:Text|Object)$/.test(operation) ? true : undefined,
    };
  },
  usage: ({ bag }) => aiSdkUsage(bag),
  metadataPrefixes: usersOwnPrefixes,
  content({ bag }) {
    const text = bag.takeText("ai.response.text", "ai.result.text");
    const object = bag.takeAny("ai.response.object", "ai.result.object");
    const calls = bag.takeTree("ai.response.toolCalls", "ai.result.toolCalls");
    const reasoning = bag.takeText("ai.response.reasoning");
    const files = bag.takeTree("ai.response.files");
    const hasAnswer = (text ?? object ?? calls ?? reasoning ?? files) !== undefined;
    const text_ = text ?? (object === undefined ? null : jsonText(object));
    const answer = {
      role: "assistant",
      content: Array.isArray(files) ? [text_, ...(files as unknown[])] : text_,
      tool_calls: calls,
      reasoning_content: reasoning,
    };
    return {
      prompt: promptOf(bag),
      completions: hasAnswer ? toMessages(answer, "assistant") : undefined,
      tools: toolsOf(listOf(bag, "ai.prompt.tools")),
      ...inputAndOutput(bag),
    };
  },
};

function promptOf(bag: AttributeBag): Message[] | undefined {
  const messages = bag.takeTree("ai.prompt.messages");
  const prompt = bag.takeTree("ai.prompt");
  bag.drop("ai.prompt.format");
  const fromMessages = toMessages(messages, "user");
  if (fromMessages.length > 0) return fromMessages;
  if (!isObject(prompt)) return toMessages(prompt, "user");
  const promptMessages = [...toMessages(prompt["messages"], "user"), ...toMessages(prompt["prompt"], "user")];
  return withSystem(promptMessages, systemText(prompt["system"]));
}

/** A link to a prompt that is managed in Langfuse. */
function promptOfLangfuse(bag: AttributeBag): Record<string, unknown> {
  const prompt = bag.peekTree("ai.telemetry.metadata.langfusePrompt");
  return isObject(prompt) ? { prompt_name: prompt["name"], prompt_version_number: prompt["version"] } : {};
}

/** Input and output of tools, embeddings and rerankers. The vectors themselves are not kept. */
function inputAndOutput(bag: AttributeBag): Pick<SpanContent, "input" | "output"> {
  const values = listOf(bag, "ai.values");
  bag.drop("ai.embedding", "ai.embeddings");
  return {
    input: bag.take("ai.toolCall.args") ?? values ?? jsonScalar(bag.take("ai.value")) ?? listOf(bag, "ai.documents"),
    output: bag.take("ai.toolCall.result") ?? listOf(bag, "ai.ranking") ?? listOf(bag, "ai.rerank.ranking"),
  };
}

/** A list with items that are each JSON text. */
function listOf(bag: AttributeBag, key: string): unknown[] | undefined {
  const given = bag.takeTree(key);
  return Array.isArray(given) ? (given as unknown[]).map((item) => jsonScalar(bag.parsed(item))) : undefined;
}

function jsonScalar(value: unknown): unknown {
  return typeof value === "string" ? wordIn(value) : value;
}

function jsonText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The usage of a call of the AI SDK 3 to 6. `ai.usage.*` counts as the SDK's provider package does: up to version 5 the
 * packages for Anthropic and Bedrock passed on an input without the cached tokens, which `ai.usage` lacks in whole or
 * in part; from version 6 on all of them include it. The provider's own usage is in the metadata, and proves which of
 * the two applies if it contains the input too. (vercel/ai packages; getsentry/sentry-javascript#21484)
 */
function aiSdkUsage(bag: AttributeBag): RawUsage {
  const stated = ofProvider(bag);
  const isSplit = bag.keysWith("ai.usage.inputTokenDetails.").length > 0;
  const input = take(bag, "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens");
  const cacheRead = take(bag, "ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens");
  const reasoning = take(bag, "ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens");
  const cacheWrite = take(bag, "ai.usage.inputTokenDetails.cacheWriteTokens");
  const usage: RawUsage = {
    ...stated,
    input,
    output: take(bag, "ai.usage.outputTokens", "ai.usage.completionTokens"),
    total: take(bag, "ai.usage.totalTokens"),
    cacheRead: cacheRead ?? stated.cacheRead,
    cacheWrite: cacheWrite ?? stated.cacheWrite,
    reasoning: reasoning ?? stated.reasoning,
    convention: isSplit ? "inclusive" : conventionOf(input, stated, bag),
  };
  // These are differences of the other counts.
  take(bag, "ai.usage.inputTokenDetails.noCacheTokens", "ai.usage.outputTokenDetails.textTokens");
  return usage;
}

/** Takes the first key with a count; the others repeat it, or are older names of it in the SDK. */
function take(bag: AttributeBag, ...keys: string[]): number | undefined {
  const counts = keys.flatMap((key) => {
    const value = bag.has(key) ? read.count(bag.peek(key)) : undefined;
    if (typeof value !== "number") return [];
    bag.accept(key);
    return [value];
  });
  return counts[0];
}

function conventionOf(input: number | undefined, stated: RawUsage, bag: AttributeBag): RawUsage["convention"] {
  const cached = (stated.cacheRead ?? 0) + (cacheWritesOf(stated) ?? 0);
  if (cached === 0) return hasFreshInput(bag) ? "exclusive" : undefined;
  const isWhole = stated.input !== undefined && input === stated.input + cached;
  return isWhole ? "inclusive" : stated.convention;
}

/** Providers whose packages excluded cached tokens from the input, and the gateway that passes on their counts. */
function hasFreshInput(bag: AttributeBag): boolean {
  const provider = bag.peekText("ai.model.provider") ?? asText(bag.peek("gen_ai.system")) ?? "";
  if (provider === "gateway") return /^(?:anthropic|bedrock)\//.test(bag.peekText("ai.model.id") ?? "");
  return /(?:^|[.-])(?:anthropic|bedrock)(?:$|[.-])/.test(provider);
}

/**
 * The counts in `{anthropic: {usage: {…}}, google: {usageMetadata: {…}}, openai: {cachedPromptTokens}, …}`, which stays
 * metadata. For several steps it is that of the last one: its input is only used for comparison.
 */
function ofProvider(bag: AttributeBag): RawUsage {
  const metadata = bag.peekTree("ai.response.providerMetadata");
  if (!isObject(metadata)) return {};
  for (const own of Object.values(metadata).filter(isObject)) {
    const inner = [own["usage"], own["usageMetadata"]].find(isObject);
    const usage = readUsageMembers({ ...own, ...inner });
    const { convention: _convention, serviceTier: _tier, ...counts } = usage;
    if (Object.values(counts).some((count) => count !== undefined)) return usage;
  }
  return {};
}
