import { isObject } from "../../lib/json.ts";

type Json = Record<string, unknown>;

/** A complete message as equivalent stream events. */
export function messageAsEvents(message: Json): string {
  const { content, stop_reason, stop_sequence = null, usage } = message;
  const blocks = Array.isArray(content) ? (content as unknown[]).filter(isObject) : [];
  return [
    event("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null } }),
    ...blocks.flatMap(eventsOfBlock),
    event("message_delta", { delta: { stop_reason, stop_sequence }, usage }),
    event("message_stop", {}),
  ].join("");
}

function eventsOfBlock(block: Json, index: number): string[] {
  const { start, deltas } = piecesOf(block);
  return [
    event("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ];
}

/** Splits the blocks that come in pieces; all others are complete in their start event. */
function piecesOf(block: Json): { start: Json; deltas: Json[] } {
  const { type, text, thinking, signature, input } = block;
  if (type === "text") return { start: { ...block, text: "" }, deltas: [{ type: "text_delta", text }] };
  if (type === "thinking") {
    const events = [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ];
    return { start: { ...block, thinking: "", signature: "" }, deltas: events };
  }
  if (type !== "tool_use" && type !== "server_tool_use") return { start: block, deltas: [] };
  const partial_json = JSON.stringify(input ?? {});
  return { start: { ...block, input: {} }, deltas: [{ type: "input_json_delta", partial_json }] };
}

function event(type: string, members: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
