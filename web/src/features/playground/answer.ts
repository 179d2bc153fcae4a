import { isRecord } from "../../lib/exact-json.ts";

type Json = Record<string, unknown>;

/** The part of an answer received so far. */
export type Answer = {
  /** Assistant messages by choice index. */
  choices: readonly Json[];
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** US dollars; undefined if no price is known. */
  cost: number | undefined;
  /** Seconds, measured by the server. */
  latency: number | undefined;
  /** The error that ended the stream. */
  failure: string | undefined;
};

export const noAnswer: Answer = {
  choices: [],
  promptTokens: undefined,
  completionTokens: undefined,
  cost: undefined,
  latency: undefined,
  failure: undefined,
};

/** The answer after one more chunk. */
export function withChunk(answer: Answer, chunk: unknown): Answer {
  if (!isRecord(chunk)) return answer;
  const next = { ...answer };
  if (isRecord(chunk["error"])) {
    const { message } = chunk["error"];
    next.failure = typeof message === "string" ? message : "The answer was interrupted.";
  }
  const usage = chunk["usage"];
  if (isRecord(usage)) {
    next.promptTokens = numberOr(usage["prompt_tokens"], next.promptTokens);
    next.completionTokens = numberOr(usage["completion_tokens"], next.completionTokens);
  }
  const breakdown = chunk["request_breakdown"];
  if (isRecord(breakdown)) {
    next.promptTokens = numberOr(breakdown["prompt_tokens"], next.promptTokens);
    next.completionTokens = numberOr(breakdown["completion_tokens"], next.completionTokens);
    next.cost = numberOr(breakdown["cost"], next.cost);
    next.latency = numberOr(breakdown["latency"], next.latency);
  }
  next.choices = withDeltas(answer.choices, chunk["choices"]);
  return next;
}

const numberOr = (value: unknown, other: number | undefined): number | undefined =>
  typeof value === "number" ? value : other;

const maxChoices = 128;

function withDeltas(choices: readonly Json[], deltas: unknown): readonly Json[] {
  if (!Array.isArray(deltas)) return choices;
  const next = [...choices];
  for (const choice of deltas as unknown[]) {
    if (!isRecord(choice) || !isRecord(choice["delta"])) continue;
    const at = placeOf(choice);
    while (next.length <= at) next.push({ role: "assistant", content: "" });
    next[at] = withDelta(next[at] ?? {}, choice["delta"]);
  }
  return next;
}

/** Appends to texts, and merges tool calls by index. */
function withDelta(message: Json, delta: Json): Json {
  const next = { ...message };
  for (const [name, value] of Object.entries(delta)) {
    if (name === "tool_calls" && Array.isArray(value)) next[name] = withCalls(next[name], value as unknown[]);
    else if (name === "role" || value === null) continue;
    else if (typeof value === "string" && typeof next[name] === "string") next[name] += value;
    else next[name] = value;
  }
  return next;
}

function withCalls(before: unknown, deltas: readonly unknown[]): Json[] {
  const calls = Array.isArray(before) ? [...(before as Json[])] : [];
  for (const delta of deltas) {
    if (!isRecord(delta)) continue;
    const at = placeOf(delta);
    while (calls.length <= at) calls.push({ type: "function", function: { name: "", arguments: "" } });
    const call = calls[at] ?? {};
    const change = isRecord(delta["function"]) ? delta["function"] : {};
    const calledFunction = isRecord(call["function"]) ? call["function"] : {};
    calls[at] = {
      ...call,
      ...(typeof delta["id"] === "string" && { id: delta["id"] }),
      function: {
        name: `${textOf(calledFunction["name"])}${textOf(change["name"])}`,
        arguments: `${textOf(calledFunction["arguments"])}${textOf(change["arguments"])}`,
      },
    };
  }
  return calls;
}

function placeOf({ index }: Json): number {
  return typeof index === "number" && index >= 0 && index < maxChoices ? Math.floor(index) : 0;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
