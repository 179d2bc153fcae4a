import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import { readReasoning } from "../anthropic/reasoning.ts";
import { readSampling } from "../anthropic/sampling.ts";
import { fitsDecoder, forDecoder, holdsAll } from "../anthropic/schemas.ts";
import { strictTools } from "../anthropic/strict-tools.ts";
import { modelSegment } from "../model-segment.ts";
import type { ChatRequest, Credential, Target, UpstreamCall } from "../provider.ts";
import { type Conversation, readConversation } from "../shared/conversation.ts";
import { type Parameters, readMaxTokens, readParameters, readStop } from "../shared/parameters.ts";
import { type AnswerPlan, planAnswer } from "../shared/plan-answer.ts";
import { refuse } from "../shared/refuse.ts";
import { jsonInstruction, readResponseFormat } from "../shared/response-format.ts";
import { type FunctionTool, readTools, withToolsOfHistory } from "../shared/tools.ts";
import { type Block, BlockMaker, cachePoint, textBlocks } from "./blocks.ts";
import { type BedrockModel, describeBedrockModel } from "./models.ts";
import { signRequest } from "./sign.ts";

/** Members of the Converse API that callers may send unchanged. */
const ofConverse = [
  "guardrailConfig",
  "performanceConfig",
  "promptVariables",
  "requestMetadata",
  "additionalModelResponseFieldPaths",
] as const;

/** Members that Converse passes on to the models behind it. */
const handedOn = ["anthropic_beta", "output_config", "min_p", "repetition_penalty", "context_management"] as const;

const handled = [...ofConverse, ...handedOn, "service_tier", "top_k", "additionalModelRequestFields"];

/** Converts a chat completion request to a call of Converse, or of ConverseStream. */
export function toBedrock(chat: ChatRequest, target: Target, nowMs: number): UpstreamCall {
  const parameters = readParameters(chat, "Bedrock", handled);
  const body = Buffer.from(JSON.stringify(buildBody(parameters, describeBedrockModel(target.model))));
  const operation = chat.stream === true ? "converse-stream" : "converse";
  const url = `${target.baseUrl}/model/${modelSegment(target.model)}/${operation}`;
  const adjusted = [...new Set(parameters.adjusted)];
  return {
    method: "POST",
    url,
    headers: authorize(url, body, target, nowMs),
    body,
    ...(adjusted.length > 0 ? { adjusted } : {}),
  };
}

/** Uses a Bedrock API key as a bearer token, else signs the request. With neither, the response will be a 403. */
function authorize(url: string, body: Buffer, target: Target, nowMs: number): Record<string, string> {
  const headers = { "content-type": "application/json" };
  const { apiKey, fields }: Credential = target.credential;
  if (apiKey !== undefined) return { ...headers, authorization: `Bearer ${apiKey}` };
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = fields;
  const region = fields["region"] ?? /\bbedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(url)?.[1] ?? "us-east-1";
  if (accessKeyId === undefined || secretAccessKey === undefined) return headers;
  const key = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  return signRequest({ method: "POST", url, headers, body }, key, { region, service: "bedrock" }, nowMs);
}

function buildBody(parameters: Parameters, model: BedrockModel): Record<string, unknown> {
  const { members, adjusted } = parameters;
  const conversation = readConversation(members["messages"]);
  adjusted.push(...conversation.adjusted);
  const plan = planAnswer(
    withToolsOfHistory(readTools(members), conversation),
    readResponseFormat(members["response_format"]),
    (schema) => model.takesSchemas && fitsDecoder(schema) && holdsAll([], schema),
  );
  const reasoning = reasoningOf(parameters, conversation, plan, model);
  const { temperature, topP, topK } = readSampling(parameters, reasoning.isSamplingFree, model.family !== "claude");
  const stopSequences = readStop(members, adjusted);
  const inferenceConfig = {
    ...(reasoning.maxTokens === undefined ? {} : { maxTokens: reasoning.maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stopSequences.length > 0 ? { stopSequences } : {}),
  };
  const additional = {
    ...(isObject(members["additionalModelRequestFields"]) ? members["additionalModelRequestFields"] : {}),
    ...parameters.foreign,
    ...Object.fromEntries(handedOn.flatMap((name) => (name in members ? [[name, members[name]]] : []))),
    ...reasoning.additional,
    ...(topK === undefined ? {} : { top_k: topK }),
  };
  const outputConfig = {
    ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
    ...(plan.schema ? { textFormat: textFormat(plan.schema) } : {}),
  };
  const blocks = new BlockMaker();
  const messages = conversation.turns.map((turn) => blocks.message(turn, reasoning.isOn));
  trimLastText(messages);
  if (blocks.hasMovedCachePoint) adjusted.push("cache_control");
  return {
    ...Object.fromEntries(ofConverse.flatMap((name) => (name in members ? [[name, members[name]]] : []))),
    messages,
    ...systemOf(conversation, plan),
    ...withMembers("inferenceConfig", inferenceConfig),
    ...toolConfig(plan, conversation, model, adjusted),
    ...withMembers("additionalModelRequestFields", additional),
    ...withMembers("outputConfig", outputConfig),
    ...serviceTier(parameters),
  };
}

/** A response that is to be continued must not end in whitespace. */
function trimLastText(messages: ReadonlyArray<{ role: string; content: Block[] }>): void {
  const last = messages.at(-1);
  const text = last?.content.findLast((block) => !("cachePoint" in block));
  if (last?.role === "assistant" && typeof text?.["text"] === "string") text["text"] = text["text"].trimEnd();
}

function withMembers(name: string, value: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(value).length > 0 ? { [name]: value } : {};
}

type BedrockReasoning = {
  isOn: boolean;
  isSamplingFree: boolean;
  maxTokens: number | undefined;
  effort?: string;
  additional: Record<string, unknown>;
};

/**
 * For Claude, reasoning is requested in Anthropic's form, in the fields that Converse passes on. Each other family has
 * its own form.
 */
function reasoningOf(
  { members, adjusted }: Parameters,
  conversation: Conversation,
  plan: AnswerPlan,
  { family, claude }: BedrockModel,
): BedrockReasoning {
  const maxTokens = readMaxTokens(members);
  if (family === "claude") {
    const request = { members, model: claude, conversation, maxTokens, isToolForced: plan.isForced, adjusted };
    const reasoning = readReasoning(request);
    const isBudgeted = reasoning.thinking?.["type"] === "enabled";
    return {
      isOn: reasoning.isOn,
      isSamplingFree: claude.takesSampling && !reasoning.isOn,
      // Without a bound, the API uses the model's own.
      maxTokens: maxTokens !== undefined || isBudgeted ? reasoning.maxTokens : undefined,
      ...(reasoning.effort ? { effort: reasoning.effort } : {}),
      additional: reasoning.thinking ? { thinking: reasoning.thinking } : {},
    };
  }
  const effort = members["reasoning_effort"];
  const additional: Record<string, unknown> =
    members["thinking"] === undefined ? {} : { thinking: members["thinking"] };
  if (effort !== undefined && family !== "other") {
    const level = effortOf(effort, adjusted);
    if (family === "gpt-oss") additional["reasoning_effort"] = level === "none" ? "low" : level;
    else additional["reasoningConfig"] = novaReasoning(level);
    if (family === "gpt-oss" && level === "none") adjusted.push("reasoning_effort");
  } else if (effort !== undefined && effort !== "none") adjusted.push("reasoning_effort");
  return { isOn: false, isSamplingFree: true, maxTokens, additional };
}

/** The efforts of the other families, by the efforts that callers may send. */
const efforts: Readonly<Record<string, "none" | "low" | "medium" | "high">> = {
  none: "none",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

function effortOf(effort: unknown, adjusted: string[]): "none" | "low" | "medium" | "high" {
  const level = typeof effort === "string" ? lookUp(efforts, effort) : undefined;
  if (level === undefined) refuse("reasoning_effort", `must be one of ${Object.keys(efforts).join(", ")}`);
  if (level !== effort) adjusted.push("reasoning_effort");
  return level;
}

function novaReasoning(level: "none" | "low" | "medium" | "high"): Record<string, unknown> {
  return level === "none" ? { type: "disabled" } : { type: "enabled", maxReasoningEffort: level };
}

/** The instruction used because Converse cannot forbid the calls of tools that the history requires. */
const noCalls = "Do not call any tool now: answer in text.";

function systemOf({ system, turns }: Conversation, plan: AnswerPlan): { system?: Block[] } {
  const parts = [
    ...system.flatMap(textBlocks),
    ...(plan.isInstructed ? [{ text: jsonInstruction }] : []),
    ...(plan.choice?.type === "none" && turns.some(holdsCalls) ? [{ text: noCalls }] : []),
  ];
  return parts.length > 0 ? { system: parts } : {};
}

function holdsCalls(turn: Conversation["turns"][number]): boolean {
  return turn.role === "assistant" && turn.calls.length > 0;
}

function toolConfig(
  plan: AnswerPlan,
  { turns }: Conversation,
  model: BedrockModel,
  adjusted: string[],
): Record<string, unknown> {
  const native = plan.native.map((tool, i) =>
    isObject(tool["systemTool"]) ? tool : refuse(`tools.${i}.type`, "is not a tool that Bedrock supports"),
  );
  const strict = strictTools(plan, model.takesSchemas, adjusted);
  const tools = [...native, ...plan.functions.flatMap((tool) => toolBlocks(tool, strict.has(tool)))];
  // Converse has no tool choice `none`: tools are omitted, unless calls in the history require them.
  if (tools.length === 0 || (plan.choice?.type === "none" && !turns.some(holdsCalls))) return {};
  if (!plan.isParallel && plan.choice?.type !== "none" && !plan.isForced) adjusted.push("parallel_tool_calls");
  if (plan.choice?.type === "required") return { toolConfig: { tools, toolChoice: { any: {} } } };
  if (plan.choice?.type !== "named") return { toolConfig: { tools } };
  return { toolConfig: { tools, toolChoice: { tool: { name: plan.choice.name } } } };
}

function toolBlocks(tool: FunctionTool, isStrict: boolean): Block[] {
  const schema = { type: "object", ...tool.parameters };
  const toolSpec = {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: { json: isStrict ? forDecoder(schema) : schema },
    ...(isStrict ? { strict: true } : {}),
  };
  return [{ toolSpec }, ...cachePoint(tool.cacheControl)];
}

function textFormat({ name, description, schema }: NonNullable<AnswerPlan["schema"]>): Record<string, unknown> {
  const jsonSchema = {
    schema: JSON.stringify(forDecoder(schema)),
    name: name.replace(/[^\w-]/g, "_"),
    ...(description === undefined ? {} : { description }),
  };
  return { type: "json_schema", structure: { jsonSchema } };
}

function serviceTier({ members, adjusted }: Parameters): Record<string, unknown> {
  const tier = members["service_tier"];
  if (tier === "priority" || tier === "flex" || tier === "reserved") return { serviceTier: { type: tier } };
  if (tier !== undefined && tier !== "auto" && tier !== "default") adjusted.push("service_tier");
  return {};
}
