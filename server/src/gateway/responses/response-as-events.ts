import { lookUp } from "../../lib/look-up.ts";
import { isObject } from "../../lib/json.ts";
import type { CompleteReply } from "../call/operation.ts";
import { readJsonReply } from "../providers/openai/read-reply.ts";

type Members = Record<string, unknown>;

/** A complete response as equivalent stream events, from which SDKs assemble it. */
export function responseAsEvents(complete: CompleteReply): string {
  const { reply } = readJsonReply(complete);
  const items = objectsOf(reply["output"]);
  const events = [
    { type: "response.created", response: { ...reply, status: "in_progress", output: [], usage: null } },
    ...items.flatMap(eventsOfItem),
    { type: reply["status"] === "incomplete" ? "response.incomplete" : "response.completed", response: reply },
  ];
  return events
    .map((event, n) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: n })}\n\n`)
    .join("");
}

type Event = { type: string } & Members;

function eventsOfItem(item: Members, output_index: number): Event[] {
  const { id: item_id, type, content, summary } = item;
  const place = { item_id, output_index };
  const parts = type === "message" ? objectsOf(content) : [];
  const thoughts = type === "reasoning" ? objectsOf(summary) : [];
  const started = {
    ...item,
    status: "in_progress",
    ...(parts.length > 0 && { content: [] }),
    ...(thoughts.length > 0 && { summary: [] }),
    ...emptied(item),
  };
  return [
    { type: "response.output_item.added", output_index, item: started },
    ...thoughts.flatMap((part, summary_index) => eventsOfThought(part, { ...place, summary_index })),
    ...parts.flatMap((part, content_index) => eventsOfPart(part, { ...place, content_index })),
    ...eventsOfArguments(item, place),
    { type: "response.output_item.done", output_index, item },
  ];
}

function objectsOf(list: unknown): Members[] {
  return Array.isArray(list) ? (list as unknown[]).filter(isObject) : [];
}

function eventsOfThought(part: Members, place: Members): Event[] {
  const { text } = part;
  return [
    { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
    { type: "response.reasoning_summary_text.delta", ...place, delta: text },
    { type: "response.reasoning_summary_text.done", ...place, text },
    { type: "response.reasoning_summary_part.done", ...place, part },
  ];
}

function eventsOfPart(part: Members, place: Members): Event[] {
  const member = part["type"] === "refusal" ? "refusal" : "text";
  const name = part["type"] === "refusal" ? "response.refusal" : "response.output_text";
  const value = part[member];
  return [
    { type: "response.content_part.added", ...place, part: { ...part, [member]: "" } },
    { type: `${name}.delta`, ...place, delta: value },
    { type: `${name}.done`, ...place, [member]: value },
    { type: "response.content_part.done", ...place, part },
  ];
}

/** Members that come in pieces, by the type of the item. */
const inPieces: Readonly<Record<string, readonly [member: string, event: string]>> = {
  function_call: ["arguments", "response.function_call_arguments"],
  custom_tool_call: ["input", "response.custom_tool_call_input"],
};

function pieceOf({ type }: Members): readonly [member: string, event: string] | undefined {
  return typeof type === "string" ? lookUp(inPieces, type) : undefined;
}

function emptied(item: Members): Members {
  const piece = pieceOf(item);
  return piece === undefined ? {} : { [piece[0]]: "" };
}

function eventsOfArguments(item: Members, place: Members): Event[] {
  const piece = pieceOf(item);
  if (piece === undefined) return [];
  const [member, name] = piece;
  return [
    { type: `${name}.delta`, ...place, delta: item[member] },
    { type: `${name}.done`, ...place, [member]: item[member] },
  ];
}
