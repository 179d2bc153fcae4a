import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { randomHex, traceOf } from "../support/otlp.ts";
import { always, bodyOf } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";
import type { Ledger, Sending, SentSpan } from "./ledger.ts";
import type { Seeded } from "./seeded.ts";
import type { System } from "./system.ts";

/** The test clients. Like SDKs, they resend unacknowledged requests, to any node that the balancer chooses. */

export const writersCustomer = "writers";
/** Spans with this output are judged. */
export const judgedOutput = "This one is judged.";
const spanCost = 0.001;

// gpt-4o costs 10 USD per million output tokens, and 2.5 per million input tokens.
const outputTokens = 399;
export const callCost = outputTokens * 1e-5 + 2.5e-6;
export const callUsage = { prompt_tokens: 1, completion_tokens: outputTokens, total_tokens: outputTokens + 1 };
const callsOfBudget = 12;

/** Sends until the request is acknowledged, because an unacknowledged span may be stored or not. */
const patienceMs = 120_000;

type Deps = { system: System; ledger: Ledger; untilMs: number };

export async function runTraffic(deps: Deps, random: Seeded): Promise<void> {
  const loops = [
    ...Array.from({ length: 3 }, () => writeSpans(deps, random.fork())),
    deleteTraces(deps, random.fork()),
    ...Array.from({ length: 3 }, (_, caller) => callModels(deps, caller)),
  ];
  await Promise.all(loops);
}

/** 503 is an outage, and so are the balancer's statuses for a node that does not respond. */
const excused = new Set([429, 502, 503, 504]);

async function send(
  { ledger }: Pick<Deps, "ledger">,
  client: TestClient,
  kind: string,
  { path, body, headers }: Sending,
): Promise<Answer | undefined> {
  const answer = await client.request("POST", path, body, headers).catch(() => undefined);
  note(ledger, kind, answer);
  return answer;
}

function note(ledger: Ledger, kind: string, answer: Answer | undefined): void {
  const name = `${kind} ${answer?.status ?? "no answer"}`;
  ledger.answers.set(name, (ledger.answers.get(name) ?? 0) + 1);
  if (answer === undefined || answer.status < 300 || excused.has(answer.status)) return;
  ledger.refusals.push({ kind, status: answer.status, text: answer.text.slice(0, 300) });
}

/** Resolves to whether it was acknowledged in time. */
async function sendUntilAcknowledged(deps: Deps, random: Seeded, kind: string, sending: Sending): Promise<boolean> {
  const giveUpMs = performance.now() + patienceMs;
  while (performance.now() < giveUpMs) {
    const answer = await send(deps, deps.system.balanced, kind, sending);
    if (answer !== undefined && answer.status < 300) return true;
    await sleep(random.between(100, 1_500));
  }
  return false;
}

async function writeSpans(deps: Deps, random: Seeded): Promise<void> {
  const { system, ledger, untilMs } = deps;
  const resends: Array<Promise<unknown>> = [];
  while (performance.now() < untilMs) {
    const [kind, spans] = random.pick(Object.entries(kinds).map(([name, make]) => [name, make(random)] as const));
    for (const span of spans) ledger.spans.set(span.id, span);
    const sendings = new Set(spans.map(({ sending }) => sending));
    for (const sending of sendings) {
      const before = spans[0]?.before;
      if (before !== undefined) await sendUntilAcknowledged(deps, random, kind, before);
      if (!(await sendUntilAcknowledged(deps, random, kind, sending))) continue;
      for (const span of spans) if (span.sending === sending) span.acknowledgedAtMs = performance.now();
      if (random.chance(0.15)) {
        const { client } = random.pick(system.nodes);
        resends.push(sleep(random.between(0, 10_000)).then(() => send(deps, client, `${kind} again`, sending)));
      }
    }
    await sleep(random.between(20, 150));
  }
  await Promise.all(resends);
}

const json = { "content-type": "application/json" };
const single = (row: Row, headers = {}): Sending => ({
  path: "/api/request-logs/",
  body: JSON.stringify(row),
  headers: { ...json, ...headers },
});

function newSpan(random: Seeded, place: Row): { id: string; isJudged: boolean; row: Row } {
  const id = randomUUID();
  const isJudged = random.chance(0.2);
  const agoMs = random.between(0, 3_600_000);
  const times = [
    {},
    { timestamp: new Date(Date.now() - agoMs).toISOString() },
    {
      start_time: new Date(Date.now() - agoMs - 2_000).toISOString(),
      timestamp: new Date(Date.now() - agoMs).toISOString(),
    },
  ];
  const row = {
    ...place,
    ...random.pick(times),
    custom_identifier: id,
    customer_identifier: writersCustomer,
    log_type: "chat",
    model: "gpt-4o",
    input: "How are you?",
    output: isJudged ? judgedOutput : "Fine.",
    prompt_tokens: 10,
    completion_tokens: 5,
    cost: spanCost,
  };
  return { id, isJudged, row };
}

const kinds: Record<string, (random: Seeded) => SentSpan[]> = {
  /** The spans of a trace, one request each. */
  single: (random) => {
    const trace = randomUUID();
    return Array.from({ length: 1 + random.below(4) }, () => {
      const { row, ...span } = newSpan(random, { trace_unique_id: trace, span_unique_id: randomUUID() });
      return { ...span, trace, cost: spanCost, sending: single(row) };
    });
  },
  bulk: (random) => {
    const trace = randomUUID();
    const spans = Array.from({ length: 1 + random.below(20) }, () =>
      newSpan(random, { trace_unique_id: trace, span_unique_id: randomUUID() }),
    );
    const body = JSON.stringify({ logs: spans.map(({ row }) => row) });
    const sending = { path: "/api/request-logs/bulk/", body, headers: json };
    return spans.map(({ id, isJudged }) => ({ id, isJudged, trace, cost: spanCost, sending }));
  },
  "with Idempotency-Key": (random) => {
    const { row, ...span } = newSpan(random, {});
    const sending = single(row, { "idempotency-key": randomUUID() });
    return [{ ...span, trace: undefined, cost: spanCost, sending }];
  },
  "start and end": (random) => {
    const [trace, span_unique_id] = [randomUUID(), randomUUID()];
    const { row, ...span } = newSpan(random, { trace_unique_id: trace, span_unique_id });
    const { output, cost, ...start } = row;
    const sending = single({ ...start, output, cost });
    return [{ ...span, trace, cost: spanCost, before: single(start), sending }];
  },
  OTLP: (random) => {
    const [id, traceId] = [randomUUID(), randomHex(32)];
    const endMs = Date.now() - Math.round(random.between(0, 3_600_000));
    const trace = traceOf(
      { "gen_ai.operation.name": "chat", "user.id": writersCustomer },
      {
        name: id,
        traceId,
        spanId: randomHex(16),
        startTimeUnixNano: `${endMs - 1_000}000000`,
        endTimeUnixNano: `${endMs}000000`,
      },
    );
    const sending = { path: "/api/v2/traces", body: JSON.stringify(trace), headers: json };
    return [{ id, isJudged: false, trace: traceId, cost: 0, sending }];
  },
};

/** Deletes traces that are some seconds old, and resends their spans to any node. */
async function deleteTraces(deps: Deps, random: Seeded): Promise<void> {
  const { system, ledger, untilMs } = deps;
  const resends: Array<Promise<unknown>> = [];
  while (performance.now() < untilMs) {
    await sleep(random.between(500, 1_500));
    const trace = oldTrace(ledger, random);
    if (trace === undefined) continue;
    ledger.unclearTraces.add(trace);
    const answer = await system.balanced.request("DELETE", `/api/traces/${trace}/?${always}`).catch(() => undefined);
    note(ledger, "delete", answer?.status === 404 ? { ...answer, status: 204 } : answer);
    if (answer?.status !== 200 || bodyOf(answer)["deleted_count"] !== 1) continue;
    ledger.unclearTraces.delete(trace);
    ledger.deletedTraces.add(trace);
    for (const sending of new Set(spansOf(ledger, trace).map((span) => span.sending))) {
      if (!random.chance(0.5)) continue;
      const { client } = random.pick(system.nodes);
      resends.push(sleep(random.between(0, 20_000)).then(() => send(deps, client, "deleted, again", sending)));
    }
  }
  await Promise.all(resends);
}

function spansOf({ spans }: Ledger, trace: string): SentSpan[] {
  return [...spans.values()].filter((span) => span.trace === trace);
}

const ageMs = 5_000;

function oldTrace(ledger: Ledger, random: Seeded): string | undefined {
  const recent = [...ledger.spans.values()].slice(-500);
  const traces = [...new Set(recent.map(({ trace }) => trace))].filter((trace) => trace !== undefined);
  const remaining = traces.filter((trace) => !ledger.deletedTraces.has(trace) && !ledger.unclearTraces.has(trace));
  const old = performance.now() - ageMs;
  const isOld = ({ acknowledgedAtMs = Infinity }: SentSpan) => acknowledgedAtMs < old;
  return random.pick(remaining.filter((trace) => spansOf(ledger, trace).every(isOld)));
}

/** Three callers share each customer; its budget is enough for `callsOfBudget` calls, and they try a few more. */
async function callModels({ system, ledger, untilMs }: Deps, caller: number): Promise<void> {
  for (let nth = 0; performance.now() < untilMs; nth += 1) {
    const customer = `customer ${Math.floor(nth / callsOfBudget)}`;
    const total_budget = (callsOfBudget + 0.5) * callCost;
    ledger.budgets.set(customer, total_budget);
    const body = JSON.stringify({
      model: "gpt-4o",
      messages: [{ role: "user", content: `${caller} ${nth}` }],
      max_tokens: outputTokens,
      customer_identifier: customer,
      customer_params: { customer_identifier: customer, total_budget },
    });
    const sending = { path: "/api/chat/completions", body, headers: json };
    const answer = await send({ ledger }, system.balanced, "call", sending);
    const logId = answer?.headers.get("x-spanway-log-id");
    if (answer?.status === 200 && logId) ledger.calls.set(logId, { customer, cost: callCost });
    await sleep(150);
  }
}
