import { hash } from "node:crypto";
import type { Conversation, Message, ToolCall } from "./conversation.ts";
import { findCustomers, type Customer } from "./customers.ts";
import { seededRandom } from "./seeded-random.ts";
import { spread } from "./spread.ts";

/** The body of one span, as `POST /api/request-logs/` accepts it. */
export type SpanBody = {
  log_type: string;
  span_name: string;
  trace_unique_id: string;
  span_unique_id: string;
  span_parent_id?: string;
  start_time: string;
  timestamp: string;
  latency: number;
  [field: string]: unknown;
};

const workflow = "airline-agent";
const model = "gpt-4o";

/**
 * Converts conversations to spans: a trace for each, with the agent as its root, a chat span per assistant turn (the
 * preceding messages and the answer), and below it a tool span per call.
 * Ids and durations depend only on the conversation, so that resending creates no new spans; the last conversation ends
 * at `endMs`, the others within the 14 days before.
 */
export function toSpans(conversations: readonly Conversation[], endMs: number): SpanBody[] {
  const customers = findCustomers(conversations);
  const ends = spread(conversations.length, endMs);
  return conversations.flatMap((conversation, index) =>
    conversationSpans(conversation, customers.get(conversation), ends[index] ?? endMs),
  );
}

function conversationSpans(conversation: Conversation, customer: Customer | undefined, endMs: number): SpanBody[] {
  const trace = hash("sha256", `${workflow}/${conversation.task_id}/${conversation.trial}`, "hex").slice(0, 32);
  const timeline = layOut(conversation.messages, seededRandom(trace));
  const startMs = endMs - timeline.durationMs;
  const spanId = (name: string): string => hash("sha256", `${trace}/${name}`, "hex").slice(0, 16);
  const rootId = spanId("root");

  const span = (name: string, turn: Turn, fields: Pick<SpanBody, "log_type" | "span_name">): SpanBody => ({
    ...fields,
    trace_unique_id: trace,
    span_unique_id: spanId(name),
    span_workflow_name: workflow,
    ...customer,
    ...(customer && { thread_identifier: `${workflow}/${customer.customer_identifier}` }),
    start_time: new Date(startMs + turn.startMs).toISOString(),
    timestamp: new Date(startMs + turn.startMs + turn.durationMs).toISOString(),
    latency: turn.durationMs / 1000,
    metadata: metadataOf(conversation),
  });

  const root: SpanBody = {
    ...span("root", { startMs: 0, durationMs: timeline.durationMs }, { log_type: "agent", span_name: workflow }),
    input: firstOf(conversation.messages, "user"),
    output: firstOf(conversation.messages.toReversed(), "assistant"),
  };
  const children = conversation.messages.flatMap((message, index): SpanBody[] => {
    const turn = timeline.turns[index];
    if (!turn || (message.role !== "assistant" && message.role !== "tool")) return [];
    const name = `message ${index}`;
    if (message.role === "assistant") {
      const chat = span(name, turn, { log_type: "chat", span_name: "assistant turn" });
      return [{ ...chat, span_parent_id: rootId, ...chatFields(conversation.messages.slice(0, index), message, turn) }];
    }
    const made = findCall(conversation.messages.slice(0, index), message);
    const tool = span(name, turn, { log_type: "tool", span_name: message.name ?? "tool" });
    const parent = made === undefined ? rootId : spanId(`message ${made.messageIndex}`);
    return [{ ...tool, span_parent_id: parent, ...toolFields(made?.call, message) }];
  });
  return [root, ...children];
}

function metadataOf({ task_id, trial, reward }: Conversation) {
  return { dataset: "tau-bench airline", task_id, trial, reward };
}

function firstOf(messages: readonly Message[], role: Message["role"]): string {
  return messages.find((message) => message.role === role && message.content !== null)?.content ?? "";
}

function chatFields(before: readonly Message[], answer: Message, turn: Turn) {
  return {
    model,
    prompt_messages: before,
    completion_message: answer,
    prompt_tokens: before.reduce((sum, message) => sum + estimateTokens(message), 0),
    completion_tokens: estimateTokens(answer),
    time_to_first_token: (turn.firstTokenMs ?? 0) / 1000,
  };
}

function toolFields(call: ToolCall | undefined, { content }: Message) {
  const output = content ?? "";
  const failed = output.startsWith("Error");
  return {
    input: call?.function.arguments ?? "",
    output,
    status: failed ? "error" : "success",
    ...(failed && { error_message: output }),
  };
}

/**
 * The call that a tool message belongs to, and the turn that made it: the last one, since ids are reused in this data
 * set.
 */
function findCall(before: readonly Message[], answer: Message): { call: ToolCall; messageIndex: number } | undefined {
  for (const [messageIndex, { tool_calls: calls = [] }] of [...before.entries()].reverse()) {
    const call = calls.find(({ id }) => id === answer.tool_call_id);
    if (call) return { call, messageIndex };
  }
  return undefined;
}

/** A quarter of the characters: close for English, and sufficient for a demo. */
function estimateTokens({ content, tool_calls: calls = [] }: Message): number {
  const characters = calls.reduce(
    (sum, call) => sum + call.function.name.length + call.function.arguments.length,
    content?.length ?? 0,
  );
  return Math.ceil(characters / 4);
}

/** Milliseconds since the conversation's start. */
type Turn = { startMs: number; durationMs: number; firstTokenMs?: number };

/** Plausible times: people think and type, the model streams tokens, tools respond within half a second. */
function layOut(messages: readonly Message[], random: () => number): { turns: Turn[]; durationMs: number } {
  let nowMs = 0;
  const turns = messages.map((message): Turn => {
    const startMs = nowMs;
    const turn = { startMs, ...durationOf(message, random) };
    nowMs = startMs + turn.durationMs;
    return turn;
  });
  return { turns, durationMs: nowMs };
}

const instantTools = new Set(["think", "calculate"]);

function durationOf(message: Message, random: () => number): Omit<Turn, "startMs"> {
  if (message.role === "system") return { durationMs: 0 };
  if (message.role === "tool") {
    return { durationMs: Math.round(instantTools.has(message.name ?? "") ? 1 + random() * 4 : 40 + random() * 400) };
  }
  if (message.role === "user") {
    return { durationMs: Math.round(2_000 + random() * 4_000 + Math.min(message.content?.length ?? 0, 400) * 20) };
  }
  const firstTokenMs = Math.round(250 + random() * 450);
  return { firstTokenMs, durationMs: firstTokenMs + Math.round(estimateTokens(message) * (10 + random() * 10)) };
}
