import { seededRandom } from "./seeded-random.ts";

/** A span as the ingest routes accept it. */
export type TraceSpan = {
  trace_unique_id: string;
  span_unique_id: string;
  span_parent_id?: string;
  span_name: string;
  log_type: string;
  start_time?: string;
  timestamp?: string;
  [field: string]: unknown;
};

export type LargeTrace = {
  trace: string;
  spans: number;
  /** The depth of the one recursive branch. */
  levels: number;
  endMs: number;
};

const subjects = ["flights", "refunds", "baggage", "upgrades", "delays", "visas", "seats", "meals"];
const tools = ["search", "get_page", "extract_table", "rank", "query_sql", "embed"];

/**
 * One trace of an agent that works in rounds: a plan, parallel tool calls, a subagent, an answer. One branch nests
 * `levels` deep. It also contains every kind of irregularity: see `oddSpans`. The same arguments make the same spans.
 */
export function largeTrace({ trace, spans: count, levels, endMs }: LargeTrace): TraceSpan[] {
  const random = seededRandom(trace);
  const spans: TraceSpan[] = [];
  const lengthMs = 600_000;
  const startMs = endMs - lengthMs;
  const add = (parent: string | undefined, name: string, type: string, from: number, to: number, rest = {}): string => {
    const id = spans.length.toString(16).padStart(16, "0");
    spans.push({
      trace_unique_id: trace,
      span_unique_id: id,
      span_name: name,
      log_type: type,
      ...(parent !== undefined && { span_parent_id: parent }),
      start_time: isoOf(startMs + from),
      timestamp: isoOf(startMs + to),
      ...rest,
    });
    return id;
  };
  const call = (parent: string, name: string, from: number, to: number) =>
    add(parent, name, "chat", from, to, {
      model: random() < 0.7 ? "gpt-4o" : "gpt-4o-mini",
      prompt_tokens: 400 + Math.floor(random() * 4000),
      completion_tokens: 20 + Math.floor(random() * 600),
      prompt_messages: [{ role: "user", content: `What is known of ${pick(subjects, random())}?` }],
      completion_message: { role: "assistant", content: "There are three ways." },
      ...(random() < 0.01 && { status: "failed", status_code: 429, error_message: "Rate limit reached for gpt-4o." }),
    });
  const root = add(undefined, "research agent", "agent", 0, lengthMs, {
    customer_identifier: "acme",
    thread_identifier: "research",
  });
  spans.push(...oddSpans(trace, root, startMs, lengthMs));
  addChain(add, root, { levels, from: 1000, to: 60_000 });
  const roundMs = (lengthMs - 60_000) / Math.max(1, Math.ceil((count - spans.length) / 12));
  for (let from = 60_000; spans.length < count; from += roundMs) {
    const at = (share: number) => from + share * roundMs * (0.9 + random() * 0.1);
    const subject = pick(subjects, random());
    const round = add(root, `answer a question on ${subject}`, "task", from, at(1));
    call(round, "plan", from, at(0.2));
    for (const share of [0.3, 0.35, 0.4, 0.5]) {
      const isFailed = random() < 0.02;
      add(
        round,
        pick(tools, random()),
        "tool",
        at(0.2),
        at(share),
        isFailed ? { status: "failed", error_message: "Timed out." } : {},
      );
    }
    const agent = add(round, `${subject} specialist`, "agent", at(0.5), at(0.8));
    call(agent, "think", at(0.5), at(0.6));
    add(agent, pick(tools, random()), "tool", at(0.6), at(0.7));
    call(agent, "summarise", at(0.7), at(0.8));
    add(round, "policy", "guardrail", at(0.8), at(0.82));
    call(round, "answer", at(0.82), at(1));
  }
  return spans.slice(0, count);
}

type Add = (parent: string, name: string, type: string, from: number, to: number) => string;

function addChain(add: Add, root: string, { levels, from, to }: { levels: number; from: number; to: number }): void {
  let parent = root;
  const stepMs = (to - from) / 2 / Math.max(1, levels);
  for (let level = 1; level < levels; level += 1) {
    parent = add(
      parent,
      `divide ${level}`,
      level % 50 === 0 ? "agent" : "task",
      from + level * stepMs,
      to - level * stepMs,
    );
  }
}

/** Orphans, a cycle, missing times, ends before starts, children outside their parents, and hostile names. */
function oddSpans(trace: string, root: string, startMs: number, lengthMs: number): TraceSpan[] {
  const names: [string, Partial<TraceSpan>][] = [
    ["orphan", { span_parent_id: "0f0f0f0f0f0f0f0f" }],
    ["cycle a", { span_unique_id: "c1", span_parent_id: "c2" }],
    ["cycle b", { span_unique_id: "c2", span_parent_id: "c1" }],
    [
      "ends after its parent",
      { start_time: isoOf(startMs + lengthMs - 5000), timestamp: isoOf(startMs + lengthMs + 20_000) },
    ],
    ["starts before its parent", { start_time: isoOf(startMs - 15_000), timestamp: isoOf(startMs + 4000) }],
    ["ends before its start", { start_time: isoOf(startMs + 9000), timestamp: isoOf(startMs + 2000) }],
    ["without a duration", { start_time: isoOf(startMs + 30_000), timestamp: isoOf(startMs + 30_000) }],
    ["model without a price", { log_type: "chat", model: "in-house-7b", prompt_tokens: 100, completion_tokens: 10 }],
    ['<img src=x onerror=alert(1)><script>alert("x")</script>', {}],
    ["invoice\u202Egpj.exe \u0007\u001B[31mred\u001B[0m \uD800 end", {}],
    ["../../etc/passwd?a=1#b", {}],
    ["עברית then English مرحبا", {}],
    [`long ${"name ".repeat(2000)}`, {}],
    ["line\nbreak\tand tab", {}],
    ["", {}],
  ];
  return names.map(([name, rest], n) => ({
    trace_unique_id: trace,
    span_unique_id: `odd${n}`,
    span_parent_id: root,
    span_name: name,
    log_type: "tool",
    start_time: isoOf(startMs + n * 900),
    timestamp: isoOf(startMs + n * 900 + 4000),
    ...rest,
  }));
}

const isoOf = (ms: number): string => new Date(ms).toISOString();
const pick = (list: readonly string[], share: number): string => list[Math.floor(share * list.length)] ?? "";
