import { isObject } from "../../../lib/json.ts";

/** A call of a tool as OpenAI writes it: `arguments` is JSON text. */
export type ToolCall = { id?: string; type: "function"; function: { name: string; arguments: string } };

/** A tool call of any of the known shapes: flat, nested in `function`, with `input` or `args` for the arguments. */
export function toolCallOf(raw: Record<string, unknown>): ToolCall {
  const nested = isObject(raw["function"]) ? raw["function"] : raw;
  const id = firstText(raw["id"], raw["toolCallId"], raw["tool_call_id"], raw["toolUseId"], raw["call_id"]);
  const name = firstText(nested["name"], raw["toolName"], raw["tool_name"]) ?? "";
  const given = nested["arguments"] ?? nested["input"] ?? nested["args"] ?? nested["parameters"];
  return {
    ...(id !== undefined && { id }),
    type: "function",
    function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}) },
  };
}

/** A tool definition as OpenAI writes it. Built-in tools, and what is none of the known shapes, stay as they are. */
export function toolOf(raw: unknown): unknown {
  if (typeof raw === "string") return { type: "function", function: { name: raw } };
  if (!isObject(raw)) return raw;
  const nested = isObject(raw["function"]) ? raw["function"] : raw;
  const name = firstText(nested["name"]);
  const type = raw["type"];
  if (name === undefined || (typeof type === "string" && type !== "function" && type !== "custom")) return raw;
  const parameters =
    nested["parameters"] ??
    nested["inputSchema"] ??
    nested["input_schema"] ??
    nested["parameters_json_schema"] ??
    nested["arguments"];
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

export function toolsOf(raw: unknown): unknown[] | undefined {
  return Array.isArray(raw) && raw.length > 0 ? (raw as unknown[]).map(toolOf) : undefined;
}

function firstText(...values: unknown[]): string | undefined {
  for (const value of values) if (typeof value === "string" && value !== "") return value;
  return undefined;
}
