import { isObject } from "../../../lib/json.ts";
import { anyDialect, foreignMembers, type Dialect, type ToolChoiceForm } from "../dialect.ts";
import type { Target, UpstreamCall } from "../provider.ts";
import type { OpenaiOperation, Quirks } from "../quirks.ts";
import { lackOf, refuseParameter } from "../shared/parameters.ts";
import { refuse } from "../shared/refuse.ts";
import { jsonInstruction } from "../shared/response-format.ts";
import { adaptMessages } from "./adapt-messages.ts";

/** The body of a request as the caller sent it, and its members. */
export type CallerBody = {
  bytes: Buffer;
  /** Parsed, service parameters included. */
  members: Record<string, unknown>;
  /** The members without service parameters; the same object if there are none. */
  forProvider: Record<string, unknown>;
};

/**
 * Builds the call to an OpenAI-compatible upstream. The caller's own bytes are sent unless something in them has to
 * change: then the body is serialized again, keeping long digits.
 * @throws ServiceError naming a parameter that this provider does not support
 */
export function openaiCall(
  body: CallerBody,
  target: Target,
  { quirks, operation, requestsUsage }: { quirks: Quirks; operation: OpenaiOperation; requestsUsage: boolean },
): UpstreamCall {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: body.members["stream"] === true ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    "user-agent": "spanway",
  };
  if (target.credential.apiKey !== undefined) {
    const [name, value] = quirks.auth(target.credential.apiKey);
    headers[name] = value;
  }
  const url = target.baseUrl + quirks.path(operation, target);
  const adapted =
    operation === "chat" && quirks.dialect !== anyDialect
      ? adaptChat(body.forProvider, quirks.dialect, target)
      : undefined;
  const bytes = bodyOf(body, target.model, { quirks, operation, requestsUsage }, adapted?.changes ?? {});
  return { method: "POST", url, headers, body: bytes, ...(adapted && { adjusted: adapted.adjusted }) };
}

/** @param changes members in the provider's dialect; undefined for omitted ones */
function bodyOf(
  { bytes, members, forProvider }: CallerBody,
  model: string,
  { quirks, operation, requestsUsage }: { quirks: Quirks; operation: OpenaiOperation; requestsUsage: boolean },
  changes: Record<string, unknown>,
): Buffer {
  // Other operations use this member for something else.
  const options = operation === "chat" ? members["stream_options"] : undefined;
  if (members["model"] !== model) changes["model"] = model;
  if (members["stream"] === true && requestsUsage) {
    const given = typeof options === "object" && options !== null ? (options as Record<string, unknown>) : {};
    if (given["include_usage"] !== true) changes["stream_options"] = { ...given, include_usage: true };
  } else if (options !== undefined) changes["stream_options"] = undefined;
  for (const member of quirks.omit) if (members[member] !== undefined) changes[member] = undefined;
  for (const _change in changes) return Buffer.from(JSON.stringify({ ...forProvider, ...changes }));
  return forProvider === members ? bytes : Buffer.from(JSON.stringify(forProvider));
}

/** The changes to a request for a provider: new values of members, undefined for omitted ones. */
type Changes = { changes: Record<string, unknown>; adjusted: string[] };

/**
 * Adapts a chat request to a provider's dialect. A request that the provider accepts unchanged has no changes.
 * @throws ServiceError naming a parameter that this provider does not support, and an alternative
 */
export function adaptChat(
  members: Record<string, unknown>,
  dialect: Dialect,
  { provider, model }: { provider: string; model: string },
): Changes {
  const own = ofModel(dialect, model);
  const adapted: Changes = { changes: {}, adjusted: [] };
  leaveOutForeign(members, own, adapted);
  leaveOutLacks(members, own, provider, adapted);
  rename(members, own, adapted);
  bound(members, own, adapted);
  chooseTools(members, own, adapted);
  const instruction = chooseFormat(members, own, adapted);
  adaptTools(members, own, adapted);
  leaveOutEmptyTools(members, adapted);
  const messages = adaptMessages(members["messages"], own, { provider, instruction });
  if (messages.messages !== members["messages"]) adapted.changes["messages"] = messages.messages;
  adapted.adjusted = [...new Set([...adapted.adjusted, ...messages.adjusted])];
  return adapted;
}

function ofModel(dialect: Dialect, model: string): Dialect {
  const differences = dialect.models.filter(([pattern]) => pattern.test(model)).map(([, of]) => of);
  return differences.length === 0 ? dialect : Object.assign({}, dialect, ...differences);
}

function leaveOutForeign(members: Record<string, unknown>, dialect: Dialect, { changes, adjusted }: Changes): void {
  for (const name in members) {
    const value = members[name];
    if (value === undefined || !foreignMembers.has(name) || dialect.takes.includes(name)) continue;
    changes[name] = undefined;
    if (value === null) continue;
    adjusted.push(name);
    if (name === "thinking") Object.assign(changes, thinkingIn(value, members, dialect));
    if (name === "stop_sequences" && members["stop"] === undefined) changes["stop"] = value;
  }
}

/** Anthropic's `thinking` in the provider's own form, if it has one and the caller did not set it. */
function thinkingIn(thinking: unknown, members: Record<string, unknown>, { thinkingAs, takes }: Dialect): object {
  if (!isObject(thinking) || thinkingAs === undefined || members[thinkingAs] !== undefined) return {};
  const isOff = thinking["type"] === "disabled";
  const budget = thinking["budget_tokens"];
  if (thinkingAs === "enable_thinking") {
    const hasBudget = !isOff && typeof budget === "number" && takes.includes("thinking_budget");
    return { enable_thinking: !isOff, ...(hasBudget && { thinking_budget: budget }) };
  }
  if (thinkingAs === "reasoning") {
    return {
      reasoning: isOff ? { enabled: false } : typeof budget === "number" ? { max_tokens: budget } : { enabled: true },
    };
  }
  if (isOff || typeof budget !== "number") return {};
  return { reasoning_effort: budget <= 4_096 ? "low" : budget <= 16_384 ? "medium" : "high" };
}

function leaveOutLacks(
  members: Record<string, unknown>,
  { lacks }: Dialect,
  provider: string,
  { changes, adjusted }: Changes,
): void {
  for (const name of lacks) {
    if (members[name] === undefined) continue;
    const lack = lackOf(name, members[name]);
    if (lack === "refuse") refuseParameter(name, provider);
    changes[name] = undefined;
    if (lack === "leave out") adjusted.push(name);
  }
}

function rename(members: Record<string, unknown>, { renames }: Dialect, { changes, adjusted }: Changes): void {
  for (const [from, to] of Object.entries(renames)) {
    const value = members[from];
    if (value === undefined) continue;
    changes[from] = undefined;
    if (value === null) continue;
    // If both are given, the newer name takes precedence; a rename that keeps the value has no effect.
    if (members[to] === undefined || from === "max_completion_tokens") changes[to] = value;
    adjusted.push(from);
  }
}

function bound(members: Record<string, unknown>, dialect: Dialect, { changes, adjusted }: Changes): void {
  for (const [name, [min, max]] of Object.entries(dialect.bounds)) {
    const value = members[name];
    if (typeof value !== "number" || name in changes || (value >= min && value <= max)) continue;
    changes[name] = Math.min(max, Math.max(min, value));
    adjusted.push(name);
  }
  const { efforts } = dialect;
  const effort = "reasoning_effort" in changes ? changes["reasoning_effort"] : members["reasoning_effort"];
  if (efforts === undefined || typeof effort !== "string" || efforts.includes(effort)) return;
  changes["reasoning_effort"] = effort === "none" ? efforts[0] : efforts.at(-1);
  adjusted.push("reasoning_effort");
}

function chooseTools(members: Record<string, unknown>, { toolChoices }: Dialect, { changes, adjusted }: Changes): void {
  const choice = members["tool_choice"];
  const form = formOf(choice);
  if (form === undefined || toolChoices.has(form)) return;
  adjusted.push("tool_choice");
  changes["tool_choice"] = undefined;
  // Tools that must not be called are not sent.
  if (form === "none") changes["tools"] = undefined;
  if (form !== "allowed_tools" || !isObject(choice) || !isObject(choice["allowed_tools"])) return;
  const { tools: allowed, mode } = choice["allowed_tools"];
  const names = new Set(Array.isArray(allowed) ? (allowed as unknown[]).map(nameOfTool) : []);
  const offered: unknown[] = Array.isArray(members["tools"]) ? members["tools"] : [];
  changes["tools"] = offered.filter((tool) => names.has(nameOfTool(tool)));
  if (mode === "required" && toolChoices.has("required")) changes["tool_choice"] = "required";
}

function formOf(choice: unknown): ToolChoiceForm | undefined {
  if (choice === "none" || choice === "required") return choice;
  if (choice === "any") return "required";
  if (!isObject(choice)) return undefined;
  return choice["type"] === "allowed_tools" ? "allowed_tools" : "named";
}

function nameOfTool(tool: unknown): unknown {
  if (!isObject(tool)) return undefined;
  return isObject(tool["function"]) ? tool["function"]["name"] : tool["name"];
}

/** Returns the instruction for the response format, if the provider does not support the format itself. */
function chooseFormat(members: Record<string, unknown>, { formats }: Dialect, adapted: Changes): string | undefined {
  const format = members["response_format"];
  const type = isObject(format) ? format["type"] : undefined;
  if (!isObject(format) || (type !== "json_object" && type !== "json_schema") || formats.has(type)) return undefined;
  adapted.adjusted.push("response_format");
  if (type === "json_object") {
    const json_schema = { name: "response", schema: { type: "object" } };
    adapted.changes["response_format"] = { type: "json_schema", json_schema };
    return undefined;
  }
  adapted.changes["response_format"] = { type: "json_object" };
  const declared = format["json_schema"];
  const schema = isObject(declared) ? declared["schema"] : undefined;
  if (!isObject(schema)) refuse("response_format.json_schema.schema", "must be a JSON schema");
  return `${jsonInstruction}\nThe object must be valid by this JSON schema:\n${JSON.stringify(schema)}`;
}

/** Removes the cache markers of tools. */
function adaptTools(members: Record<string, unknown>, dialect: Dialect, { changes, adjusted }: Changes): void {
  const tools = "tools" in changes ? changes["tools"] : members["tools"];
  if (dialect.takesCacheMarkers || !Array.isArray(tools)) return;
  const list = tools as unknown[];
  if (!list.some(isMarked)) return;
  changes["tools"] = list.map((tool) => (isMarked(tool) ? unmarked(tool) : tool));
  adjusted.push("cache_control");
}

/** Removes empty tool lists and their choices: they have no effect, but most providers return 400 for them. */
function leaveOutEmptyTools(members: Record<string, unknown>, { changes, adjusted }: Changes): void {
  const tools = "tools" in changes ? changes["tools"] : members["tools"];
  const isEmpty = tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0);
  if (!isEmpty || members["functions"] !== undefined) return;
  for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) {
    if (members[name] === undefined) continue;
    changes[name] = undefined;
    // A forced call is no longer possible.
    const form = name === "tool_choice" ? formOf(members[name]) : undefined;
    if (form !== undefined && form !== "none") adjusted.push(name);
  }
}

function isMarked(tool: unknown): tool is Record<string, unknown> {
  return (
    isObject(tool) && ("cache_control" in tool || (isObject(tool["function"]) && "cache_control" in tool["function"]))
  );
}

function unmarked(tool: Record<string, unknown>): Record<string, unknown> {
  const { cache_control: _own, ...rest } = tool;
  if (!isObject(rest["function"])) return rest;
  const { cache_control: _within, ...called } = rest["function"];
  return { ...rest, function: called };
}
