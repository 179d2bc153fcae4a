import { isObject } from "../../../lib/json.ts";
import type { Conversation } from "./conversation.ts";
import { refuse } from "./refuse.ts";

/** The tools of a chat request. */
export type Tools = {
  functions: FunctionTool[];
  /** Tools of the provider's own kinds, as sent. */
  native: Array<Record<string, unknown>>;
  choice: ToolChoice | undefined;
  /** False if at most one call is allowed at a time. */
  isParallel: boolean;
};

export type FunctionTool = {
  name: string;
  description?: string;
  /** JSON schema of the arguments. */
  parameters: Record<string, unknown>;
  isStrict: boolean;
  cacheControl?: unknown;
};

export type ToolChoice = { type: "auto" | "none" | "required" } | { type: "named"; name: string };

/** Reads `tools`, `tool_choice` and `parallel_tool_calls`. */
export function readTools(chat: Record<string, unknown>): Tools {
  const list = chat["tools"] ?? [];
  if (!Array.isArray(list)) return refuse("tools", "must be a list");
  const tools: Tools = { functions: [], native: [], choice: undefined, isParallel: true };
  (list as unknown[]).forEach((tool, i) => {
    if (!isObject(tool)) refuse(`tools.${i}`, "must be an object");
    else if (tool["type"] === "function") tools.functions.push(readFunction(tool, `tools.${i}`));
    else if (tool["type"] === "custom")
      refuse(`tools.${i}.type`, "custom tools are supported only by OpenAI: use a function");
    else tools.native.push(tool);
  });
  tools.isParallel = chat["parallel_tool_calls"] !== false;
  return withChoice(tools, chat["tool_choice"]);
}

/**
 * The tools of a request with calls in its history. Providers refuse such a request without tools, so the called ones
 * are declared again, with the choice `none`.
 */
export function withToolsOfHistory(tools: Tools, { turns }: Conversation): Tools {
  if (tools.functions.length > 0 || tools.native.length > 0) return tools;
  const names = new Set(turns.flatMap((turn) => (turn.role === "assistant" ? turn.calls.map(({ name }) => name) : [])));
  if (names.size === 0) return tools;
  const functions = [...names].map((name) => ({ name, parameters: { type: "object" }, isStrict: false }));
  return { ...tools, functions, choice: { type: "none" } };
}

function readFunction(tool: Record<string, unknown>, path: string): FunctionTool {
  const declared = tool["function"];
  if (!isObject(declared)) return refuse(`${path}.function`, "must be an object");
  const { name, description, parameters } = declared;
  if (typeof name !== "string" || name === "") return refuse(`${path}.function.name`, "must be text");
  const cacheControl = tool["cache_control"] ?? declared["cache_control"];
  return {
    name,
    ...(typeof description === "string" && description !== "" ? { description } : {}),
    parameters: isObject(parameters) && Object.keys(parameters).length > 0 ? parameters : { type: "object" },
    isStrict: declared["strict"] === true,
    ...(cacheControl ? { cacheControl } : {}),
  };
}

function withChoice(tools: Tools, choice: unknown): Tools {
  if (choice === null || choice === undefined) return tools;
  if (choice === "auto" || choice === "none" || choice === "required") return { ...tools, choice: { type: choice } };
  if (!isObject(choice)) return refuse("tool_choice", "must be auto, none, required or an object");
  if (choice["type"] === "allowed_tools") return withAllowed(tools, choice["allowed_tools"]);
  const name = nameOfChoice(choice);
  const isKnown = name !== undefined && [...tools.functions, ...tools.native].some((tool) => tool["name"] === name);
  if (!isKnown) return refuse("tool_choice", "names no tool of this request");
  return { ...tools, choice: { type: "named", name } };
}

function withAllowed(tools: Tools, allowed: unknown): Tools {
  const list = isObject(allowed) ? allowed["tools"] : undefined;
  if (!isObject(allowed) || !Array.isArray(list))
    return refuse("tool_choice.allowed_tools", "must have a list of tools");
  const names = new Set((list as unknown[]).map((tool) => (isObject(tool) ? nameOfChoice(tool) : undefined)));
  const functions = tools.functions.filter(({ name }) => names.has(name));
  if (functions.length === 0) return refuse("tool_choice.allowed_tools", "names no tool of this request");
  return { ...tools, functions, choice: { type: allowed["mode"] === "required" ? "required" : "auto" } };
}

function nameOfChoice(choice: Record<string, unknown>): string | undefined {
  const named = isObject(choice["function"]) ? choice["function"]["name"] : choice["name"];
  return typeof named === "string" ? named : undefined;
}
