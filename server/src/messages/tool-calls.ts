import { isObject } from "../lib/json.ts";

/** A tool call in OpenAI's format: `arguments` is JSON text. */
export type ToolCall = { id?: string; type: "function"; function: { name: string; arguments: string } };

/** Reads a tool call of any known shape: flat, nested in `function`, with `input` or `args` for the arguments. */
export function toolCallOf(raw: Record<string, unknown>): ToolCall {
  const nested = isObject(raw["function"]) ? raw["function"] : raw;
  // An item of the Responses API has its own id and that of its call; results refer to the latter.
  const id = firstText(raw["call_id"], raw["id"], raw["toolCallId"], raw["tool_call_id"], raw["toolUseId"], raw["ref"]);
  const name = firstText(nested["name"], raw["toolName"], raw["tool_name"]) ?? "";
  const given =
    nested["arguments"] ?? nested["input"] ?? nested["args"] ?? nested["parameters"] ?? raw["server_tool_call"];
  return {
    ...(id !== undefined && { id }),
    type: "function",
    function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}) },
  };
}

/**
 * Converts the calls of a response to OpenAI's chat format if they have the shape of the AI SDK or of the Responses
 * API: `toolName` with `input`, `name` with `args`, or an item. Other members of such a call, for example a result, are
 * kept. If nothing needs converting, returns the same value.
 */
export function withOpenAiCalls(calls: unknown): unknown {
  if (!Array.isArray(calls) || !(calls as unknown[]).some(isForeignCall)) return calls;
  return (calls as unknown[]).map((call) => {
    if (!isForeignCall(call)) return call;
    const { toolCallId: _id, toolName: _toolName, name: _name, input: _input, ...rest } = call;
    const { args: _args, arguments: _arguments, call_id: _callId, ...beside } = rest;
    return { ...beside, ...toolCallOf(call) };
  });
}

function isForeignCall(call: unknown): call is Record<string, unknown> {
  if (!isObject(call) || isObject(call["function"])) return false;
  if (call["type"] === "function_call" && typeof call["name"] === "string") return true;
  return typeof call["toolName"] === "string" || (typeof call["name"] === "string" && "args" in call);
}

/** Converts a tool definition to OpenAI's format. Built-in tools and unknown shapes are returned unchanged. */
export function toolOf(raw: unknown): unknown {
  if (typeof raw === "string") return { type: "function", function: { name: raw } };
  if (!isObject(raw)) return raw;
  const nested = isObject(raw["function"]) ? raw["function"] : raw;
  const name = firstText(nested["name"]);
  const type = raw["type"];
  if (name === undefined || (typeof type === "string" && type !== "function" && type !== "custom")) return raw;
  const given =
    nested["parameters"] ??
    nested["inputSchema"] ??
    nested["input_schema"] ??
    nested["parameters_json_schema"] ??
    nested["parametersJsonSchema"] ??
    nested["arguments"];
  // Bedrock nests them one level deeper.
  const parameters = isObject(given) && isObject(given["json"]) ? given["json"] : given;
  const description = firstText(nested["description"]);
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && parameters !== null && { parameters }),
      ...(typeof nested["strict"] === "boolean" && { strict: nested["strict"] }),
    },
  };
}

/** A list of definitions; Gemini nests them in another list. */
export function toolsOf(raw: unknown): unknown[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  const declared = (raw as unknown[]).flatMap((tool) => {
    const declarations = isObject(tool) ? (tool["functionDeclarations"] ?? tool["function_declarations"]) : undefined;
    return Array.isArray(declarations) ? (declarations as unknown[]) : [tool];
  });
  return declared.map(toolOf);
}

function firstText(...values: unknown[]): string | undefined {
  for (const value of values) if (typeof value === "string" && value !== "") return value;
  return undefined;
}
