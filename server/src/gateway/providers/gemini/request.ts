import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import type { ChatRequest, Target, UpstreamCall } from "../provider.ts";
import { readConversation } from "../shared/conversation.ts";
import { type Parameters, readMaxTokens, readNumber, readParameters, readStop } from "../shared/parameters.ts";
import { type AnswerPlan, planAnswer } from "../shared/plan-answer.ts";
import { refuse } from "../shared/refuse.ts";
import { jsonInstruction, readResponseFormat } from "../shared/response-format.ts";
import { type FunctionTool, readTools } from "../shared/tools.ts";
import { addressOf, isVertex } from "./address.ts";
import { describeGemini, type GeminiModel } from "./models.ts";
import { toContent } from "./parts.ts";
import { forGemini } from "./schemas.ts";
import { ofGoogle, readThinking } from "./thinking.ts";

/** Members of generateContent that callers may send unchanged. */
const ofGemini = ["safetySettings", "cachedContent", "labels", "toolConfig"] as const;

/** The spelling in Google's SDKs for Python. */
const spellings: Readonly<Record<string, string>> = {
  safety_settings: "safetySettings",
  generation_config: "generationConfig",
  cached_content: "cachedContent",
};

const handled = [
  "n",
  "logprobs",
  "top_logprobs",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "top_k",
  "modalities",
  "service_tier",
  "extra_body",
  "generationConfig",
  "web_search_options",
  ...ofGemini,
];

/** Converts a chat completion request to a call of generateContent, or of streamGenerateContent. */
export function toGemini(chat: ChatRequest, target: Target): UpstreamCall {
  const parameters = readParameters(spelled(chat), "Gemini", handled);
  const body = buildBody(parameters, target);
  const { adjusted } = parameters;
  return {
    method: "POST",
    ...addressOf(target, chat.stream === true),
    body: Buffer.from(JSON.stringify(body)),
    ...(adjusted.length > 0 ? { adjusted } : {}),
  };
}

function spelled(chat: ChatRequest): ChatRequest {
  if (!Object.keys(spellings).some((name) => name in chat)) return chat;
  const entries = Object.entries(chat).map(([name, value]) => [lookUp(spellings, name) ?? name, value]);
  return { ...(Object.fromEntries(entries) as Record<string, unknown>), model: chat.model, messages: chat.messages };
}

function buildBody(parameters: Parameters, target: Target): Record<string, unknown> {
  const { members, foreign, adjusted } = parameters;
  const model = describeGemini(target.model);
  const conversation = readConversation(members["messages"]);
  adjusted.push(...conversation.adjusted);
  const plan = planFor(members, model);
  const system = [...conversation.system.map(({ text }) => ({ text })), ...(plan.isInstructed ? [jsonWords] : [])];
  const google = ofGoogle(members);
  return {
    ...foreign,
    ...Object.fromEntries(ofGemini.flatMap((name) => (name in members ? [[name, members[name]]] : []))),
    contents: conversation.turns.map((turn) => toContent(turn, target, model)),
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...toolsOf(plan, adjusted),
    generationConfig: generationConfig(parameters, plan, model),
    ...(typeof google["cached_content"] === "string" ? { cachedContent: google["cached_content"] } : {}),
    ...(Array.isArray(google["safety_settings"]) ? { safetySettings: google["safety_settings"] } : {}),
    ...serviceTier(parameters, target),
  };
}

/** Vertex AI expects it as a header, and only in few locations. */
function serviceTier({ members, adjusted }: Parameters, target: Target): Record<string, unknown> {
  const tier = members["service_tier"];
  if ((tier === "flex" || tier === "priority") && !isVertex(target)) return { service_tier: tier };
  if (tier !== undefined && !standardTiers.has(tier)) adjusted.push("service_tier");
  return {};
}

const standardTiers = new Set<unknown>(["auto", "default", "standard"]);

const jsonWords = { text: jsonInstruction };

/** Before the third generation, a response could be constrained to JSON only if no tools were offered. */
function planFor(members: Record<string, unknown>, model: GeminiModel): AnswerPlan {
  const declared = readTools(members);
  const search = members["web_search_options"] === undefined ? [] : [{ googleSearch: {} }];
  const read = { ...declared, native: [...declared.native, ...search] };
  // Tools that must not be called are not sent.
  const tools = read.choice?.type === "none" ? { ...read, functions: [], native: [] } : read;
  const isForced = tools.choice?.type === "required" || tools.choice?.type === "named";
  const hasTools = tools.functions.length > 0 || tools.native.length > 0;
  const isJsonPossible = !hasTools || (model.isThirdGeneration && !isForced);
  const plan = planAnswer(tools, readResponseFormat(members["response_format"]), () => isJsonPossible);
  return { ...plan, isInstructed: plan.isInstructed && !isJsonPossible };
}

const nativeTools = new Set(
  [
    "googleSearch",
    "googleSearchRetrieval",
    "codeExecution",
    "urlContext",
    "googleMaps",
    "fileSearch",
    "computerUse",
  ].flatMap((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);

function toolsOf(plan: AnswerPlan, adjusted: string[]): Record<string, unknown> {
  plan.native.forEach((tool, i) => {
    if (!Object.keys(tool).some((name) => nativeTools.has(name)))
      refuse(`tools.${i}.type`, "is not a tool that Gemini supports");
  });
  if (!plan.isParallel && plan.functions.length > 0 && plan.choice?.type !== "named")
    adjusted.push("parallel_tool_calls");
  const tools = [
    ...plan.native,
    ...(plan.functions.length > 0 ? [{ functionDeclarations: plan.functions.map(declare) }] : []),
  ];
  if (tools.length === 0) return {};
  const mode = callingMode(plan);
  return { tools, ...(mode ? { toolConfig: { functionCallingConfig: mode } } : {}) };
}

function callingMode({ choice }: AnswerPlan): Record<string, unknown> | undefined {
  if (choice?.type === "required") return { mode: "ANY" };
  if (choice?.type === "named") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return choice?.type === "auto" ? { mode: "AUTO" } : undefined;
}

function declare({ name, description, parameters }: FunctionTool): Record<string, unknown> {
  const schema = forGemini(parameters);
  const isEmpty = schema["type"] === "object" && Object.keys(schema).length === 1;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(isEmpty ? {} : { parametersJsonSchema: schema }),
  };
}

function generationConfig(parameters: Parameters, plan: AnswerPlan, model: GeminiModel): Record<string, unknown> {
  const { members, adjusted } = parameters;
  const own = members["generationConfig"];
  if (own !== undefined && !isObject(own)) refuse("generationConfig", "must be an object");
  const stop = readStop(members, adjusted);
  if (stop.length > 5) refuse("stop", "may have at most 5 texts for Gemini");
  const config: Record<string, unknown> = {
    candidateCount: candidateCount(members),
    maxOutputTokens: readMaxTokens(members),
    temperature: readNumber(members, "temperature", 0, 2),
    topP: readNumber(members, "top_p", 0, 1),
    topK: readNumber(members, "top_k", 1, Number.MAX_SAFE_INTEGER),
    stopSequences: stop.length > 0 ? stop : undefined,
    seed: readNumber(members, "seed", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    presencePenalty: readNumber(members, "presence_penalty", -2, 2),
    frequencyPenalty: readNumber(members, "frequency_penalty", -2, 2),
    ...logprobs(members),
    responseModalities: responseModalities(members),
    thinkingConfig: readThinking(members, model, adjusted),
    ...jsonMode(members, plan),
  };
  // JSON.stringify omits undefined members.
  return { ...config, ...own };
}

function candidateCount(members: Record<string, unknown>): number | undefined {
  const n = readNumber(members, "n", 1, 8);
  if (n !== undefined && !Number.isInteger(n)) refuse("n", "must be a whole number");
  return n === 1 ? undefined : n;
}

/** OpenAI's parameter for the kinds of output; image models accept `image`. */
function responseModalities({ modalities }: Record<string, unknown>): string[] | undefined {
  if (modalities === undefined) return undefined;
  const list: unknown[] = Array.isArray(modalities) ? modalities : [modalities];
  if (list.some((one) => one !== "text" && one !== "image")) refuse("modalities", "may be text and image for Gemini");
  return list.includes("image") ? list.map((one) => String(one).toUpperCase()) : undefined;
}

function logprobs(members: Record<string, unknown>): Record<string, unknown> {
  if (members["logprobs"] !== true) {
    if (members["top_logprobs"] !== undefined && members["top_logprobs"] !== 0) {
      refuse("top_logprobs", "requires logprobs to be true");
    }
    return {};
  }
  return { responseLogprobs: true, logprobs: readNumber(members, "top_logprobs", 0, 20) || undefined };
}

/** Not with tools on the second generation, nor with forced calls: `planFor` handles these cases. */
function jsonMode(members: Record<string, unknown>, plan: AnswerPlan): Record<string, unknown> {
  if (plan.schema) return { responseMimeType: "application/json", responseJsonSchema: forGemini(plan.schema.schema) };
  const format = members["response_format"];
  const isAnyJson = isObject(format) && format["type"] === "json_object" && !plan.isInstructed;
  return isAnyJson ? { responseMimeType: "application/json" } : {};
}
