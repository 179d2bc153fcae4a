import { isObject } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";

type Members = Record<string, unknown>;

/** The content of a response's items, as parts of a chat message. */
type Output = { content: string; refusal: string; reasoning: string; calls: Members[] };

/** The content of a response's items as the equivalent chat message. */
export function messageOfOutput(output: unknown): Members {
  const collected: Output = { content: "", refusal: "", reasoning: "", calls: [] };
  for (const item of Array.isArray(output) ? (output as unknown[]) : []) if (isObject(item)) addItem(collected, item);
  return messageOf(collected);
}

function addItem(collected: Output, item: Members): void {
  const { type, content, summary } = item;
  if (type === "message") {
    collected.content += textsOf(content, "text");
    collected.refusal += textsOf(content, "refusal");
  } else if (type === "reasoning") collected.reasoning += textsOf(summary, "text") + textsOf(content, "text");
  else if (type === "function_call" || type === "custom_tool_call") collected.calls.push(callOf(item));
}

function textsOf(parts: unknown, member: string): string {
  const list = Array.isArray(parts) ? (parts as unknown[]) : [];
  return list.map((part) => (isObject(part) && typeof part[member] === "string" ? part[member] : "")).join("");
}

function callOf({ type, call_id: id, name, arguments: args, input }: Members): Members {
  if (type === "custom_tool_call") return { id, type: "custom", custom: { name, input: input ?? "" } };
  return { id, type: "function", function: { name, arguments: args ?? "" } };
}

function messageOf({ content, refusal, reasoning, calls }: Output): Members {
  return {
    role: "assistant",
    content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(refusal !== "" && { refusal }),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
  };
}

/** The content of a response stream so far, which is all that a broken stream leaves. */
export type OutputSoFar = {
  /** Adds one event. Returns undefined for an event without content. */
  add(type: string, event: Members): Members | undefined;
};

export function createOutputSoFar(): OutputSoFar {
  const collected: Output = { content: "", refusal: "", reasoning: "", calls: [] };
  /** Tool calls in progress, by the id of their item. */
  const items = new Map<unknown, Members>();
  let chars = 0;

  const text = ({ delta }: Members): string => {
    if (typeof delta !== "string") return "";
    const room = Math.max(0, gatewayLimits.recordedChars - chars);
    chars += delta.length;
    return delta.slice(0, room);
  };
  const addArguments = (event: Members, member: "arguments" | "input"): void => {
    const item = items.get(event["item_id"]);
    if (item === undefined) return;
    const before = item[member];
    item[member] = (typeof before === "string" ? before : "") + text(event);
  };

  return {
    add(type, event) {
      const { item } = event;
      if (type === "response.output_item.added" && isObject(item) && items.size < gatewayLimits.recordedToolCalls) {
        if (item["type"] === "function_call" || item["type"] === "custom_tool_call") items.set(item["id"], { ...item });
      } else if (type === "response.output_text.delta") collected.content += text(event);
      else if (type === "response.refusal.delta") collected.refusal += text(event);
      else if (/^response\.reasoning(?:_summary)?_text\.delta$/.test(type)) collected.reasoning += text(event);
      else if (type === "response.function_call_arguments.delta") addArguments(event, "arguments");
      else if (type === "response.custom_tool_call_input.delta") addArguments(event, "input");
      else return undefined;
      return messageOf({ ...collected, calls: [...items.values()].map(callOf) });
    },
  };
}
