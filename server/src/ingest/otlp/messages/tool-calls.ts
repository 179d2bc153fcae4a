import { isObject } from "../../../lib/json.ts";

/** A call of a tool as OpenAI writes it: `arguments` is JSON text. */
export type ToolCall = { id?: string; type: "function"; function: { name: string; arguments: string } };

/** A tool call of any of the known shapes: flat, nested in `function`, with `input` or `args` for the arguments. */
export function toolCallOf(raw: Record<string, unknown>): ToolCall {
  const nested = isObject(raw["function"]) ? raw["function"] : raw;
  const id = firstText(raw["id"], raw["toolCallId"], raw["tool_call_id"], raw["toolUseId"], raw["call_id"], raw["ref"]);
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
 * The calls of an answer, each as OpenAI writes it where it has the AI SDK's shape, which exporters pass on: `toolName` with
 * `input`, or `name` with `args`. What else such a call holds, a result for one, stays beside. Any other value is given back
 * as it is, the very same one.
 */
export function withOpenAiCalls(calls: unknown): unknown {
  if (!Array.isArray(calls) || !(calls as unknown[]).some(isAiSdkCall)) return calls;
  return (calls as unknown[]).map((call) => {
    if (!isAiSdkCall(call)) return call;
    const { toolCallId: _id, toolName: _toolName, name: _name, input: _input, args: _args, ...rest } = call;
    return { ...rest, ...toolCallOf(call) };
  });
}

function isAiSdkCall(call: unknown): call is Record<string, unknown> {
  if (!isObject(call) || isObject(call["function"])) return false;
  return typeof call["toolName"] === "string" || (typeof call["name"] === "string" && "args" in call);
}

/** A tool definition as OpenAI writes it. Built-in tools, and what is none of the known shapes, stay as they are. */
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
  // Bedrock's lie one deeper.
  const parameters = isObject(given) && isObject(given["json"]) ? given["json"] : given;
  const description = firstText(nested["description"]);
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && parameters !== null && { parameters }),
    },
  };
}

/** Definitions in a list; Gemini's stand a list deeper. */
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
