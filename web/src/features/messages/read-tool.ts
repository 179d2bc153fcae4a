import { isRecord } from "../../lib/exact-json.ts";
import type { DisplayPart, ToolCallPart, ToolResultPart } from "./display-part.ts";
import { firstText, jsonIn, recordIn, textIn } from "./members.ts";

type Block = Record<string, unknown>;

/**
 * Reads a tool call in any known format: OpenAI's, Anthropic's, Bedrock's, Gemini's, the AI SDK's, items of Responses.
 */
export function readCall(block: Block): ToolCallPart {
  const nested = recordIn(block, "function") ?? recordIn(block, "custom") ?? block;
  const type = textIn(block, "type");
  const known = argumentMembers.map((member) => nested[member] ?? block[member]);
  const given = known.find((value) => value !== undefined && value !== null) ?? restOf(block);
  return {
    kind: "tool-call",
    id: firstText(block, "call_id", "id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id"),
    name: firstText(nested, "name", "toolName", "tool_name") ?? type ?? "",
    arguments: typeof given === "string" ? (jsonIn(given) ?? given) : given,
  };
}

/** Reads a tool result in any known format. `readParts` reads the blocks in it. */
export function readResult(block: Block, readParts: (content: unknown) => DisplayPart[]): ToolResultPart {
  const members = ["content", "output", "result", "response", "server_tool_call_response"];
  const given = members.map((member) => block[member]).find((value) => value !== undefined && value !== null);
  return {
    kind: "tool-result",
    id: firstText(block, "tool_use_id", "tool_call_id", "toolCallId", "toolUseId", "call_id", "id"),
    name: firstText(block, "name", "toolName", "tool_name"),
    parts: resultParts(given, readParts),
    isError: block["is_error"] === true || block["isError"] === true || block["status"] === "error",
  };
}

/** The result of a tool as parts: text, message blocks, or another value. */
export function resultParts(given: unknown, readParts: (content: unknown) => DisplayPart[]): DisplayPart[] {
  if (given === undefined || given === null) return [];
  if (typeof given === "string") {
    const value = jsonIn(given);
    return value === undefined ? readParts(given) : [{ kind: "value", label: "result", value }];
  }
  // The AI SDK wraps results: {type: "text" | "json" | "content", value}.
  if (isRecord(given) && "value" in given && typeof given["type"] === "string") {
    return resultParts(given["value"], readParts);
  }
  const isBlocks = Array.isArray(given) && given.length > 0 && (given as unknown[]).every(isBlock);
  return isBlocks ? readParts(given) : [{ kind: "value", label: "result", value: given }];
}

const argumentMembers = ["arguments", "input", "args", "parameters"];

const isBlock = (value: unknown): boolean =>
  typeof value === "string" ||
  (isRecord(value) &&
    (typeof value["type"] === "string" || isLone(value, "text") || isLone(value, "json") || isLone(value, "image")));

const isLone = (value: Block, member: string): boolean => member in value && Object.keys(value).length === 1;

/** For built-in tools (`web_search_call`): all members except those that identify the call. */
function restOf(block: Block): unknown {
  const { type: _type, id: _id, call_id: _call, name: _name, status: _status, function: _function, ...rest } = block;
  return rest;
}
