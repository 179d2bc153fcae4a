import { isObject } from "../../../lib/json.ts";
import { readUsageObject } from "../../../pricing/usage-object.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent, SpanView } from "../convention.ts";
import type { Attributes } from "../export-request.ts";
import { containsMessages, ofChoice, toMessages, type Message } from "../../../messages/message.ts";
import { systemText } from "../../../messages/request.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { jsonOfPython } from "../python-text.ts";

/**
 * OpenTelemetry's GenAI semantic conventions from 1.37 on, with the extra keys that exporters add to them.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export const genAi: Convention = {
  name: "gen-ai",
  applies: ({ bag }) => bag.hasFamily("gen_ai"),
  fields: {
    model: ["gen_ai.response.model", "gen_ai.request.model"],
    provider_id: ["gen_ai.provider.name", "gen_ai.system"],
    temperature: ["gen_ai.request.temperature"],
    top_p: ["gen_ai.request.top_p"],
    max_tokens: ["gen_ai.request.max_tokens", "gen_ai.request.max_completion_tokens"],
    frequency_penalty: ["gen_ai.request.frequency_penalty"],
    presence_penalty: ["gen_ai.request.presence_penalty"],
    n: ["gen_ai.request.choice.count", "gen_ai.request.choice_count", "gen_ai.request.n"],
    stop: ["gen_ai.request.stop_sequences"],
    dimensions: ["gen_ai.embeddings.dimension.count"],
    stream: ["gen_ai.request.stream", "gen_ai.request.is_stream", "gen_ai.is_streaming"],
    thread_identifier: ["gen_ai.conversation.id", "gen_ai.session.id"],
    tool_choice: ["gen_ai.request.tool_choice"],
    span_workflow_name: ["gen_ai.workflow.name"],
    prompt_name: ["gen_ai.prompt.name"],
    response_id: ["gen_ai.response.id"],
  },
  derive: ({ bag, operation, scopeName, span }) => ({
    // On a chat span the tool name is that of the tool that the model called.
    span_name: operation === "execute_tool" || operation === "tool_call" ? bag.takeText("gen_ai.tool.name") : undefined,
    // The tier that served the call, which may differ from the requested one.
    usage: usageOf(bag),
    usage_is_estimated: countsOnItsOwn.test(scopeName) && isEstimate(operation, span.attributes) ? true : undefined,
  }),
  usage: {
    input: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    output: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    total: ["gen_ai.usage.total_tokens"],
    cacheRead: [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cached_input_tokens",
      "gen_ai.usage.cache_read_tokens",
      "gen_ai.usage.input_tokens.cached",
      "gen_ai.usage.input_cached_tokens",
      "gen_ai.usage.details.cache_read_tokens",
      "gen_ai.usage.details.cache_read_input_tokens",
      "gen_ai.usage.prompt_tokens_details.cached_tokens",
      "gen_ai.usage.prompt_tokens_details.cache_read",
    ],
    cacheWrite: [
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_write_input_tokens",
      "gen_ai.usage.cache_write_tokens",
      "gen_ai.usage.input_tokens.cache_write",
      "gen_ai.usage.cache_creation_tokens",
      "gen_ai.usage.details.cache_write_tokens",
      "gen_ai.usage.details.cache_creation_input_tokens",
      "gen_ai.usage.prompt_tokens_details.cache_creation_tokens",
      "gen_ai.usage.prompt_tokens_details.cache_write",
    ],
    cacheWrite5m: writesFor("5m"),
    cacheWrite1h: writesFor("1h"),
    reasoning: [
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.reasoning_output_tokens",
      "gen_ai.usage.reasoning_tokens",
      "gen_ai.usage.output_tokens.reasoning",
      "gen_ai.usage.details.reasoning_tokens",
      "gen_ai.usage.details.thinking_tokens",
      "gen_ai.usage.completion_tokens_details.reasoning_tokens",
      "gen_ai.usage.completion_tokens_details.reasoning",
    ],
    audioInput: [
      "gen_ai.usage.audio.input_tokens",
      "gen_ai.usage.audio_input_tokens",
      "gen_ai.usage.input_audio_tokens",
      "gen_ai.usage.details.input_audio_tokens",
    ],
    imageInput: ["gen_ai.usage.image.input_tokens"],
    videoInput: ["gen_ai.usage.video.input_tokens"],
    audioCacheRead: ["gen_ai.usage.audio.cache_read.input_tokens", "gen_ai.usage.details.cache_audio_read_tokens"],
    imageCacheRead: ["gen_ai.usage.image.cache_read.input_tokens"],
    videoCacheRead: ["gen_ai.usage.video.cache_read.input_tokens"],
    imageOutput: ["gen_ai.usage.image.output_tokens"],
    videoOutput: ["gen_ai.usage.video.output_tokens"],
    audioOutput: [
      "gen_ai.usage.audio.output_tokens",
      "gen_ai.usage.audio_output_tokens",
      "gen_ai.usage.output_audio_tokens",
      "gen_ai.usage.details.output_audio_tokens",
      "gen_ai.usage.completion_tokens_details.audio_tokens",
      "gen_ai.usage.completion_tokens_details.audio",
    ],
  },
  cache: (view) => (passesOnFreshInput(view) ? "exclusive" : undefined),
  cost: ["gen_ai.usage.cost", "gen_ai.usage.total_cost", "gen_ai.usage.cost_usd"],
  costParts: ["gen_ai.usage.input_cost", "gen_ai.usage.output_cost"],
  content: ({ bag, operation }) => {
    const content = structuredContent({
      input: bag.takeTree("gen_ai.input.messages", "gen_ai.request.messages"),
      output: bag.takeTree("gen_ai.output.messages") ?? answerOfSentry(bag),
      system: bag.takeTree("gen_ai.system_instructions"),
      tools: bag.takeTree("gen_ai.tool.definitions", "gen_ai.request.available_tools"),
    });
    if (operation === "chat") return content;
    return {
      ...content,
      input: content.input ?? bag.takeAny(...inputKeys),
      output: content.output ?? bag.takeAny(...outputKeys),
    };
  },
};

/** Sentry splits the response: a text, or JSON with one text per choice, and the tool calls of the first. */
function answerOfSentry(bag: AttributeBag): unknown {
  const given = bag.takeTree("gen_ai.response.text");
  const calls = bag.takeTree("gen_ai.response.tool_calls");
  const texts = Array.isArray(given) ? (given as unknown[]) : [given];
  if (calls === undefined && given === undefined) return undefined;
  return texts.map((content, at) => ({ role: "assistant", content, ...(at === 0 && { tool_calls: calls }) }));
}

/** The usage object of the response, if it is passed on whole. */
const usageKeys = [
  "gen_ai.usage.raw",
  "gen_ai.usage",
  "gen_ai.response.usage",
  "gen_ai.usage_metadata",
  "llm.usage",
  "llm.usage.raw",
  "llm.response.usage",
];

function usageOf(bag: AttributeBag): Record<string, unknown> | undefined {
  const service_tier = bag.takeText("openai.response.service_tier", "gen_ai.openai.response.service_tier");
  const stated = usageKeys.map((key) => usageIn(bag, key)).find((usage) => usage !== undefined);
  return stated === undefined && service_tier === undefined
    ? undefined
    : { ...stated, ...(service_tier !== undefined && { service_tier }) };
}

function usageIn(bag: AttributeBag, key: string): Record<string, unknown> | undefined {
  const text = bag.peek(key);
  const given = bag.parsed(typeof text === "string" ? (jsonOfPython(text) ?? text) : text);
  if (!isObject(given) || readUsageObject(given) === undefined) return undefined;
  bag.drop(key);
  return given;
}

function writesFor(age: string): string[] {
  const names = [
    `cache_creation.${age}_input_tokens`,
    `cache_creation_${age}_input_tokens`,
    `cache_write_${age}_input_tokens`,
  ];
  return names.map((name) => `gen_ai.usage.${name}`);
}

/** Inputs and outputs of tools, retrievals, memories and guardrails. */
const inputKeys = [
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.input",
  "gen_ai.tool.args",
  "gen_ai.workflow.input",
  "gen_ai.retrieval.query.text",
  "gen_ai.memory.query.text",
  "gen_ai.guardrail.input",
  "gen_ai.speech.input_text",
];
const outputKeys = [
  "gen_ai.tool.call.result",
  "gen_ai.tool.output",
  "gen_ai.tool.result",
  "gen_ai.workflow.output",
  "gen_ai.retrieval.documents",
  "gen_ai.memory.records",
  "gen_ai.guardrail.output",
  "gen_ai.transcription.text",
];

/** Instrumentations that pass on the counts of Anthropic and Bedrock, where the input is only the fresh part. */
function passesOnFreshInput({ scopeName, span }: SpanView): boolean {
  if (/^@traceloop\/instrumentation-(?:anthropic|bedrock)$/.test(scopeName)) return true;
  const provider = span.attributes.get("gen_ai.provider.name") ?? span.attributes.get("gen_ai.system");
  return /openlit/.test(scopeName) && (provider === "anthropic" || provider === "aws.bedrock");
}

/** Instrumentations that count the tokens of streams and images themselves, whatever the model reported. */
const countsOnItsOwn = /^@traceloop\/instrumentation-(?:openai|together)/;

/** Their chat spans do not show whether they were streamed, except by these attributes. */
function isEstimate(operation: string, attributes: Attributes): boolean {
  return operation === "image_generation" || streamSigns.some((key) => attributes.get(key) === true);
}

const streamSigns = ["gen_ai.request.stream", "gen_ai.is_streaming", "llm.is_streaming"];

/** The attributes of 1.37: JSON text or structured, on the span, on an event or on a log record. */
export function structuredContent(given: {
  input?: unknown;
  output?: unknown;
  system?: unknown;
  tools?: unknown;
}): SpanContent {
  // Tools and steps of frameworks have objects as input, embeddings have texts: these are not messages.
  const isMessage = areMessages(given.input);
  const answers =
    choicesIn(given.output) ?? (areMessages(given.output) ? toMessages(given.output, "assistant") : undefined);
  return {
    prompt: isMessage ? toMessages(given.input, "user") : undefined,
    system: systemText(given.system),
    input: isMessage ? undefined : nonEmpty(given.input),
    completions: answers?.map(modelOutput),
    output: answers ? undefined : nonEmpty(given.output),
    tools: toolsOf(given.tools),
  };
}

/** Some send OpenAI's choices, or the response that contains them, in place of messages. */
function choicesIn(given: unknown): Message[] | undefined {
  const choices = isObject(given) ? given["choices"] : given;
  if (!Array.isArray(choices) || !choices.some(isChoice)) return undefined;
  const items = (choices as unknown[]).map((item) =>
    isChoice(item) ? { message: item["message"], index: item["index"] } : { message: item, index: undefined },
  );
  if (!areMessages(items.map(({ message }) => message))) return undefined;
  return items.flatMap(({ message, index }) => ofChoice(toMessages(message, "assistant"), index));
}

function isChoice(given: unknown): given is Record<string, unknown> {
  return isObject(given) && isObject(given["message"]) && !("role" in given);
}

function areMessages(given: unknown): boolean {
  const items = Array.isArray(given) ? (given as unknown[]) : [given];
  const isMessage = (item: unknown): boolean => containsMessages(item) || (isObject(item) && "content" in item);
  return typeof given === "string" || (items.length > 0 && items.every(isMessage));
}

/** The Gemini command line sends the model's messages with the role system. */
function modelOutput(message: Message): Message {
  return message.role === "system" ? { ...message, role: "assistant" } : message;
}

function nonEmpty(given: unknown): unknown {
  return given === null || (Array.isArray(given) && given.length === 0) ? undefined : given;
}
