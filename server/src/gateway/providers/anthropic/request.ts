import { isObject } from "../../../lib/json.ts";
import type { ChatRequest, Target, UpstreamCall } from "../provider.ts";
import { type Conversation, readConversation } from "../shared/conversation.ts";
import { type Parameters, readMaxTokens, readNumber, readParameters, readStop } from "../shared/parameters.ts";
import { type TextPart } from "../shared/parts.ts";
import { refuse } from "../shared/refuse.ts";
import { jsonInstruction, type JsonFormat, jsonToolName, readResponseFormat } from "../shared/response-format.ts";
import { type FunctionTool, readTools, type Tools, withToolsOfHistory } from "../shared/tools.ts";
import { type Block, cached, textBlock, turnToMessage } from "./blocks.ts";
import { type ClaudeModel, describeClaude } from "./models.ts";
import { readReasoning } from "./reasoning.ts";
import { fitsDecoder, forDecoder } from "./schemas.ts";

/** Members of the Messages API that callers use by OpenAI's names, or that have a header. */
const handled = ["user", "safety_identifier", "service_tier", "top_k", "output_config", "anthropic_beta"] as const;

/** A chat completion as a call of the Messages API (`POST /v1/messages`, version 2023-06-01). */
export function toAnthropic(chat: ChatRequest, target: Target): UpstreamCall {
  const parameters = readParameters(chat, "Anthropic", handled);
  const conversation = readConversation(chat.messages);
  parameters.adjusted.push(...conversation.adjusted);
  const body = { model: target.model, ...buildBody(parameters, conversation, describeClaude(target.model)) };
  const root = target.baseUrl.endsWith("/v1") ? target.baseUrl : `${target.baseUrl}/v1`;
  const adjusted = [...new Set(parameters.adjusted)];
  return {
    method: "POST",
    url: `${root}/messages`,
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      ...(target.credential.apiKey === undefined ? {} : { "x-api-key": target.credential.apiKey }),
      ...betaHeader(parameters.members["anthropic_beta"], conversation),
    },
    body: Buffer.from(JSON.stringify(body)),
    ...(adjusted.length > 0 ? { adjusted } : {}),
  };
}

function buildBody(parameters: Parameters, conversation: Conversation, model: ClaudeModel): Record<string, unknown> {
  const { members, foreign, adjusted } = parameters;
  const format = planFormat(readResponseFormat(members["response_format"]), model);
  const tools = planTools(withToolsOfHistory(readTools(members), conversation), format, model);
  const reasoning = readReasoning({
    members,
    model,
    conversation,
    maxTokens: readMaxTokens(members),
    isToolForced: tools.isForced,
    adjusted,
  });
  const stop = readStop(members, adjusted);
  const userId = members["user"] ?? members["safety_identifier"];
  const outputConfig = {
    ...(isObject(members["output_config"]) ? members["output_config"] : {}),
    ...(reasoning.effort ? { effort: reasoning.effort } : {}),
    ...(format?.by === "schema" ? { format: { type: "json_schema", schema: forDecoder(format.schema) } } : {}),
  };
  return {
    ...foreign,
    max_tokens: reasoning.maxTokens,
    ...systemOf(conversation, format),
    messages: messagesOf(conversation, reasoning.isOn),
    ...tools.members,
    ...(reasoning.thinking ? { thinking: reasoning.thinking } : {}),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...readSampling(parameters, model, reasoning.isOn),
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
  // An answer that is to be continued may not end in blanks.
  if (last?.role === "assistant" && typeof text?.["text"] === "string") text["text"] = text["text"].trimEnd();
  return messages;
}

function systemOf({ system }: Conversation, format: FormatPlan | undefined): { system?: Block[] } {
  const parts: TextPart[] =
    format?.by === "instruction" ? [...system, { type: "text", text: jsonInstruction }] : system;
  return parts.length > 0 ? { system: parts.map(textBlock) } : {};
}

/**
 * How a JSON answer is had. By structured outputs where model and schema allow it; else by a tool that must be called
 * and whose arguments are the answer; without a schema, by asking for it.
 */
type FormatPlan =
  | { by: "schema" | "tool"; schema: Record<string, unknown>; format: JsonFormat }
  | { by: "instruction" };

function planFormat(format: JsonFormat | undefined, model: ClaudeModel): FormatPlan | undefined {
  if (!format) return undefined;
  if (!format.schema) return { by: "instruction" };
  const by = model.takesSchemas && fitsDecoder(format.schema) ? "schema" : "tool";
  return { by, schema: format.schema, format };
}

type ToolPlan = { members: Record<string, unknown>; isForced: boolean };

function planTools(tools: Tools, format: FormatPlan | undefined, model: ClaudeModel): ToolPlan {
  const declared: Block[] = [...tools.native, ...tools.functions.map((tool) => toolBlock(tool, model))];
  if (tools.functions.some(({ name }) => name === jsonToolName)) refuse("tools", `${jsonToolName} is a reserved name`);
  const choice = tools.choice ?? { type: "auto" as const };
  const isCallDue = choice.type === "required" || choice.type === "named";
  const once = tools.isParallel ? {} : { disable_parallel_tool_use: true };
  if (format?.by === "tool" && !isCallDue) {
    const isAlone = declared.length === 0 || choice.type === "none";
    const members = {
      tools: [...declared, jsonTool(format.schema, format.format)],
      tool_choice: isAlone
        ? { type: "tool", name: jsonToolName, disable_parallel_tool_use: true }
        : { type: "any", ...once },
    };
    return { members, isForced: true };
  }
  if (declared.length === 0) return { members: {}, isForced: false };
  if (choice.type === "none") return { members: { tools: declared, tool_choice: { type: "none" } }, isForced: false };
  if (choice.type === "named") {
    const members = { tools: declared, tool_choice: { type: "tool", name: choice.name, ...once } };
    return { members, isForced: true };
  }
  const type = choice.type === "required" ? "any" : "auto";
  const isDefault = tools.choice === undefined && tools.isParallel;
  return {
    members: { tools: declared, ...(isDefault ? {} : { tool_choice: { type, ...once } }) },
    isForced: isCallDue,
  };
}

function toolBlock(tool: FunctionTool, model: ClaudeModel): Block {
  const schema = { type: "object", ...tool.parameters };
  const isStrict = tool.isStrict && model.takesSchemas && fitsDecoder(schema);
  return {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    input_schema: isStrict ? forDecoder(schema) : schema,
    ...(isStrict ? { strict: true } : {}),
    ...cached(tool.cacheControl),
  };
}

function jsonTool(schema: Record<string, unknown>, { name, description }: JsonFormat): Block {
  const purpose = `Gives the final answer, "${name}". Call it once, when the answer is complete.`;
  return {
    name: jsonToolName,
    description: description === undefined ? purpose : `${purpose}\n${description}`,
    input_schema: { type: "object", ...schema },
  };
}

/** Temperature is at most 1 here. Models that think, and newer ones always, choose their sampling themselves. */
function readSampling(parameters: Parameters, model: ClaudeModel, isThinking: boolean): Record<string, unknown> {
  const { members, adjusted } = parameters;
  const temperature = readNumber(members, "temperature", 0, 2);
  const topP = readNumber(members, "top_p", 0, 1);
  const topK = members["top_k"];
  const isFree = model.takesSampling && !isThinking;
  const result: Record<string, unknown> = {};
  if (temperature !== undefined && temperature !== 1) {
    if (!isFree || temperature > 1) adjusted.push("temperature");
    if (isFree) result["temperature"] = Math.min(temperature, 1);
  }
  if (topP !== undefined && topP !== 1) {
    // Most models refuse both at once.
    const isTaken = isFree && result["temperature"] === undefined;
    if (isTaken) result["top_p"] = topP;
    else adjusted.push("top_p");
  }
  if (topK !== undefined) {
    if (isFree) result["top_k"] = topK;
    else adjusted.push("top_k");
  }
  return result;
}

function serviceTier({ members, adjusted }: Parameters): Record<string, unknown> {
  const tier = members["service_tier"];
  if (tier === "standard_only") return { service_tier: tier };
  if (tier !== undefined && tier !== "auto" && tier !== "default") adjusted.push("service_tier");
  return {};
}

function betaHeader(asked: unknown, { turns }: Conversation): Record<string, string> {
  const list: unknown[] = Array.isArray(asked) ? asked : asked === undefined ? [] : [asked];
  const betas = list.map((beta) =>
    typeof beta === "string" && /^[\w.,-]+$/.test(beta) ? beta : refuse("anthropic_beta", "must be a list of names"),
  );
  const parts = turns.flatMap((turn) =>
    turn.role === "user" ? [...turn.parts, ...turn.results.flatMap((result) => result.parts)] : [],
  );
  if (parts.some((part) => part.type === "document" && part.media.kind === "file")) betas.push("files-api-2025-04-14");
  return betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {};
}
