import { isObject } from "../../../lib/json.ts";
import type { ChatRequest, Target, UpstreamCall } from "../provider.ts";
import { type Conversation, readConversation } from "../shared/conversation.ts";
import { type Parameters, readMaxTokens, readParameters, readStop } from "../shared/parameters.ts";
import type { TextPart } from "../shared/parts.ts";
import { type AnswerPlan, planAnswer } from "../shared/plan-answer.ts";
import { refuse } from "../shared/refuse.ts";
import { jsonInstruction, readResponseFormat } from "../shared/response-format.ts";
import { type FunctionTool, readTools, withToolsOfHistory } from "../shared/tools.ts";
import { type Block, cached, textBlock, turnToMessage } from "./blocks.ts";
import { type ClaudeModel, describeClaude } from "./models.ts";
import { readReasoning } from "./reasoning.ts";
import { readSampling } from "./sampling.ts";
import { fitsDecoder, forDecoder, holdsAll } from "./schemas.ts";
import { strictTools } from "./strict-tools.ts";

/** Members that callers send under OpenAI's names, or that become a header. */
const handled = [
  "user",
  "safety_identifier",
  "service_tier",
  "top_k",
  "output_config",
  "anthropic_beta",
  "context_management",
  "mcp_servers",
  "web_search_options",
] as const;

/** Those of them that are passed on unchanged. */
const untouched = ["context_management", "mcp_servers"] as const;

export const anthropicVersion = "2023-06-01";

/** Base URLs occur with and without the version. */
export function messagesUrl({ baseUrl }: Target): string {
  return `${baseUrl.endsWith("/v1") ? baseUrl : `${baseUrl}/v1`}/messages`;
}

export function keyHeader({ credential: { apiKey } }: Target): Record<string, string> {
  return apiKey === undefined ? {} : { "x-api-key": apiKey };
}

/** Converts a chat completion request to a call of the Messages API (`POST /v1/messages`, version 2023-06-01). */
export function toAnthropic(chat: ChatRequest, target: Target): UpstreamCall {
  const parameters = readParameters(chat, "Anthropic", handled);
  const conversation = readConversation(chat.messages);
  parameters.adjusted.push(...conversation.adjusted);
  const body = { model: target.model, ...buildBody(parameters, conversation, describeClaude(target.model)) };
  const adjusted = [...new Set(parameters.adjusted)];
  return {
    method: "POST",
    url: messagesUrl(target),
    headers: {
      "content-type": "application/json",
      "anthropic-version": anthropicVersion,
      ...keyHeader(target),
      ...betaHeader(parameters.members["anthropic_beta"], conversation),
    },
    body: Buffer.from(JSON.stringify(body)),
    ...(adjusted.length > 0 ? { adjusted } : {}),
  };
}

function buildBody(parameters: Parameters, conversation: Conversation, model: ClaudeModel): Record<string, unknown> {
  const { members, foreign, adjusted } = parameters;
  const tools = withToolsOfHistory(readTools(members), conversation);
  const plan = planAnswer(
    { ...tools, native: [...tools.native, ...webSearch(members["web_search_options"])] },
    readResponseFormat(members["response_format"]),
    (schema) => model.takesSchemas && fitsDecoder(schema) && holdsAll([], schema),
  );
  const reasoning = readReasoning({
    members,
    model,
    conversation,
    maxTokens: readMaxTokens(members),
    isToolForced: plan.isForced,
    adjusted,
  });
  const stop = readStop(members, adjusted);
  const userId = members["user"] ?? members["safety_identifier"];
  const outputConfig = {
    ...(isObject(members["output_config"]) ? members["output_config"] : {}),
    ...(reasoning.effort ? { effort: reasoning.effort } : {}),
    ...(plan.schema ? { format: { type: "json_schema", schema: forDecoder(plan.schema.schema) } } : {}),
  };
  return {
    ...foreign,
    ...Object.fromEntries(untouched.flatMap((name) => (name in members ? [[name, members[name]]] : []))),
    max_tokens: reasoning.maxTokens,
    ...systemOf(conversation, plan),
    messages: messagesOf(conversation, reasoning.isOn),
    ...toolsOf(plan, strictTools(plan, model.takesSchemas, adjusted)),
    ...(reasoning.thinking ? { thinking: reasoning.thinking } : {}),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...samplingOf(parameters, model.takesSampling && !reasoning.isOn),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(typeof userId === "string" ? { metadata: { user_id: userId } } : {}),
    ...serviceTier(parameters),
    ...(members["stream"] === true ? { stream: true } : {}),
  };
}

function messagesOf({ turns }: Conversation, withThinking: boolean): Array<{ role: string; content: Block[] }> {
  const messages = turns.map((turn) => turnToMessage(turn, withThinking));
  const last = messages.at(-1);
  const text = last?.content.at(-1);
  // A response that is to be continued must not end in whitespace.
  if (last?.role === "assistant" && typeof text?.["text"] === "string") text["text"] = text["text"].trimEnd();
  return messages;
}

function systemOf({ system }: Conversation, plan: AnswerPlan): { system?: Block[] } {
  const parts: TextPart[] = plan.isInstructed ? [...system, { type: "text", text: jsonInstruction }] : system;
  return parts.length > 0 ? { system: parts.map(textBlock) } : {};
}

function toolsOf(plan: AnswerPlan, strict: ReadonlySet<FunctionTool>): Record<string, unknown> {
  const tools = [...plan.native, ...plan.functions.map((tool) => toolBlock(tool, strict.has(tool)))];
  if (tools.length === 0) return {};
  const once = plan.isParallel ? {} : { disable_parallel_tool_use: true };
  if (plan.choice?.type === "none") return { tools, tool_choice: { type: "none" } };
  if (plan.choice?.type === "named") return { tools, tool_choice: { type: "tool", name: plan.choice.name, ...once } };
  if (plan.choice === undefined && plan.isParallel) return { tools };
  return { tools, tool_choice: { type: plan.choice?.type === "required" ? "any" : "auto", ...once } };
}

function toolBlock(tool: FunctionTool, isStrict: boolean): Block {
  const schema = { type: "object", ...tool.parameters };
  return {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    input_schema: isStrict ? forDecoder(schema) : schema,
    ...(isStrict ? { strict: true } : {}),
    ...cached(tool.cacheControl),
  };
}

/** OpenAI's web search as Anthropic's tool. Anthropic has no setting for `search_context_size`. */
function webSearch(options: unknown): Block[] {
  if (options === undefined) return [];
  if (!isObject(options)) return refuse("web_search_options", "must be an object");
  const location = isObject(options["user_location"]) ? options["user_location"] : {};
  const approximate = isObject(location["approximate"]) ? location["approximate"] : location;
  const isSomewhere = Object.keys(approximate).some((name) => name !== "type");
  return [
    {
      type: "web_search_20250305",
      name: "web_search",
      ...(isSomewhere ? { user_location: { ...approximate, type: "approximate" } } : {}),
    },
  ];
}

function samplingOf(parameters: Parameters, isFree: boolean): Record<string, unknown> {
  // Most models refuse temperature and top_p together.
  const { temperature, topP, topK } = readSampling(parameters, isFree, false);
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
}

function serviceTier({ members, adjusted }: Parameters): Record<string, unknown> {
  const tier = members["service_tier"];
  if (tier === "standard_only") return { service_tier: tier };
  if (tier !== undefined && tier !== "auto" && tier !== "default") adjusted.push("service_tier");
  return {};
}

const filesBeta = "files-api-2025-04-14";

function betaHeader(requested: unknown, { turns }: Conversation): Record<string, string> {
  const list: unknown[] = Array.isArray(requested) ? requested : requested === undefined ? [] : [requested];
  const betas = list.map((beta) =>
    typeof beta === "string" && /^[\w.,-]+$/.test(beta) ? beta : refuse("anthropic_beta", "must be a list of names"),
  );
  const parts = turns.flatMap((turn) =>
    turn.role === "user" ? [...turn.parts, ...turn.results.flatMap((result) => result.parts)] : [],
  );
  const isFile = (part: (typeof parts)[number]): boolean =>
    (part.type === "document" || part.type === "image") && part.media.kind === "file";
  if (parts.some(isFile)) betas.push(filesBeta);
  return betas.length > 0 ? { "anthropic-beta": [...new Set(betas)].join(",") } : {};
}
