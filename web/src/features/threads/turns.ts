import { partsOfValue } from "../messages/conversation.ts";
import type { DisplayMessage, DisplayPart } from "../messages/display-part.ts";
import { jsonIn } from "../messages/members.ts";
import { pairTools } from "../messages/pair-tools.ts";
import { readMessage } from "../messages/read-message.ts";
import type { SpanRow } from "./queries.ts";

/**
 * One question of a conversation and everything done to answer it: the spans of one trace, or a span without a trace.
 */
export type Turn = {
  key: string;
  trace: string | undefined;
  /** The last model call, otherwise the last span. */
  spanId: string;
  startedAt: string | undefined;
  /** From the first start to the last end. */
  seconds: number | undefined;
  models: string[];
  /** USD; undefined if no span has a known cost. */
  cost: number | undefined;
  unpricedCount: number;
  tokens: number | undefined;
  error: string | undefined;
  isFailed: boolean;
  spanCount: number;
  /** All new messages, with tool results attached to their calls. */
  messages: DisplayMessage[];
  /** The messages that the user wrote or saw. */
  seen: DisplayMessage[];
};

/** Groups the spans of a thread, ordered by end time, into turns. */
export function readTurns(rows: readonly SpanRow[]): Turn[] {
  const byTrace = Map.groupBy(
    rows,
    (row) => textOf(row, "trace_unique_id") ?? `span ${textOf(row, "unique_id") ?? ""}`,
  );
  return [...byTrace].map(([key, spans]) => readTurn(key, spans));
}

function readTurn(key: string, spans: readonly SpanRow[]): Turn {
  const calls = spans.filter((span) => textOf(span, "model") !== undefined);
  const raw = spans.flatMap((span) => (Array.isArray(span["new_messages"]) ? (span["new_messages"] as unknown[]) : []));
  const messages = pairTools(
    raw.map((message, place) => readMessage(message, place)),
    0,
  );
  const failed = spans.findLast((span) => span["failed"] === true);
  const starts = spans.flatMap((span) => textOf(span, "start_time") ?? []).toSorted();
  const ends = spans.flatMap((span) => textOf(span, "timestamp") ?? []).toSorted();
  const [startedAt] = starts;
  const endedAt = ends.at(-1);
  return {
    key,
    trace: textOf(spans[0] ?? {}, "trace_unique_id"),
    spanId: textOf(calls.at(-1) ?? spans.at(-1) ?? {}, "unique_id") ?? "",
    startedAt,
    seconds:
      startedAt === undefined || endedAt === undefined
        ? undefined
        : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000,
    models: [...new Set(calls.flatMap((span) => textOf(span, "model") ?? []))],
    cost: sumOf(spans, "counted_cost"),
    unpricedCount: calls.filter((span) => typeof span["counted_cost"] !== "number").length,
    tokens: sumOf(spans, "counted_tokens"),
    error: failed && (textOf(failed, "error_message") ?? `Status ${String(failed["status_code"])}`),
    isFailed: failed !== undefined,
    spanCount: spans.length,
    messages,
    seen: messages.flatMap(seenOf),
  };
}

/** Gives turns without messages the input and output of the spans around their calls. */
export function withWrappers(turns: readonly Turn[], wrappers: readonly SpanRow[]): Turn[] {
  return turns.map((turn) => {
    if (turn.messages.length > 0) return turn;
    const own = wrappers.filter((row) => textOf(row, "trace_unique_id") === turn.trace && turn.trace !== undefined);
    const root = own.find((row) => textOf(row, "span_parent_id") === undefined) ?? own.at(-1);
    if (root === undefined) return turn;
    const messages = [message("user", root["input"], 0), message("assistant", root["output"], 1)].filter(
      ({ parts }) => parts.length > 0,
    );
    return { ...turn, messages, seen: messages };
  });
}

function message(role: "user" | "assistant", value: unknown, place: number): DisplayMessage {
  const shown = typeof value === "string" ? (jsonIn(value) ?? value) : value;
  const parts = shown === null || shown === undefined || shown === "" ? [] : partsOfValue(shown);
  return { place, role, tone: role, name: undefined, parts };
}

const seenKinds: ReadonlySet<DisplayPart["kind"]> = new Set(["text", "refusal", "media", "file"]);

/** The parts of a message that the user wrote or read: no instructions, reasoning or tools. */
function seenOf(given: DisplayMessage): DisplayMessage[] {
  if (given.tone !== "user" && given.tone !== "assistant") return [];
  const parts = given.parts.filter(({ kind }) => seenKinds.has(kind));
  return parts.length === 0 ? [] : [{ ...given, parts }];
}

function sumOf(spans: readonly SpanRow[], member: string): number | undefined {
  const known = spans.map((span) => span[member]).filter((value) => typeof value === "number");
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}

function textOf(row: SpanRow, member: string): string | undefined {
  const value = row[member];
  return typeof value === "string" && value !== "" ? value : undefined;
}
