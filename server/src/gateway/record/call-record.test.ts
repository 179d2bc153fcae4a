import fc from "fast-check";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createSpanIntake } from "../../ingest/accept/accept.ts";
import { createAcceptCalls, readCall, writeCall, type RecordedCall } from "../../ingest/accept/recorded-call.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { createIngestMetrics } from "../../telemetry/ingest-metrics.ts";
import { domainLimits } from "../../domain/limits.ts";
import { storageLimits } from "../../storage/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import { newLedger, recordDigest, applyParams, recordReply, type CallLedger } from "../call/call-ledger.ts";
import { createChatDigest } from "../chat/chat-digest.ts";
import { readMembers, withoutServiceParams } from "../chat/read-chat-request.ts";
import { readServiceParams } from "../request/service-params.ts";
import { spanOfCall } from "./call-record.ts";

const prices = createPriceBook({ maxModels: 10 });
const logger = pino({ level: "silent" });
const origin = {
  organization_id: "org",
  environment: "prod",
  organization_key_id: "key",
  organization_key_name: "Key",
  log_method: "gateway",
} as const;

/** A trace whose span ids another call has used. */
const repeated = "trace-2";

/** Rows as they are stored, of calls as they are and as the spool returns them. */
async function storedRows(calls: readonly RecordedCall[]): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  const journal = {
    waiting: () => ({ entries: 0, bytes: 0 }),
    completeSinceMs: () => 0,
    lookup: () => undefined,
    append: () => Promise.resolve({ seq: 1, bytes: 1 }),
    settled: () => Promise.resolve(),
  } as never;
  const intake = createSpanIntake({
    journal,
    prices,
    metrics: createIngestMetrics(new Registry(), journal),
    writer: { add: (_entry, payload) => void rows.push(...payload.toString().trimEnd().split("\n").map(parsed)) },
    now: () => 1.8e12,
  });
  await createAcceptCalls({ intake, logger })(calls);
  return rows;
}

function parsed(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}

function ledgerOf(request: Record<string, unknown>): CallLedger {
  const ledger = newLedger(
    { origin, startedAtMs: 1.8e12 - 1_000 },
    { claim: () => request["trace_unique_id"] !== repeated },
    "chat",
  );
  const members = readMembers(Buffer.from(JSON.stringify(request)));
  ledger.request = withoutServiceParams(members);
  applyParams(ledger, readServiceParams(members, { headers: {}, permissions: new Set() }));
  return ledger;
}

/** The stored row of a call. It is the same whether its record was read from the spool. */
async function rowOf(
  request: Record<string, unknown>,
  end: (ledger: CallLedger) => void,
): Promise<Record<string, unknown>> {
  const ledger = ledgerOf(request);
  end(ledger);
  const { identity } = ledger;
  const recorded = { body: spanOfCall(ledger), origin, identity, receivedNs: 1_800_000_000_000_000_000n };
  const text = writeCall(recorded);
  expect(text).not.toContain("\n");
  const read = readCall(text);
  const rows = await storedRows(read === undefined ? [] : [read]);
  expect(rows).toHaveLength(1);
  expect(await storedRows([recorded])).toEqual(rows);
  return rows[0] ?? {};
}

const call = { model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] };
const reply = {
  choices: [{ message: { role: "assistant", content: "Hi", refusal: null }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
};

function answered(ledger: CallLedger): void {
  Object.assign(ledger, {
    model: "gpt-4o",
    provider: "openai",
    attempts: 1,
    hasPlan: true,
    routedMs: 1.5,
    endedMs: 2.25,
  });
  recordReply(ledger, reply);
}

test("stores a reply's choices in the order of their index", () => {
  const ledger = newLedger({ origin, startedAtMs: 0 }, { claim: () => true }, "chat");
  const choices = [2, 0, 1].map((index) => ({ index, message: { role: "assistant", content: String(index) } }));
  recordReply(ledger, { choices });
  expect(ledger.messages.map(({ content }) => content)).toEqual(["0", "1", "2"]);
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom("", "x".repeat(domainLimits.identifierChars + 1), '\ud83d\ude00 é \n"\\'),
);
// The spool returns an integer that no double can hold as its digits.
const odd = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text, fc.constantFrom(2 ** 53, -(2 ** 60), 1e300));
const message = fc.record(
  { role: fc.constantFrom("user", "assistant", "tool"), content: odd },
  { requiredKeys: ["role"] },
);
const request = fc.record(
  {
    model: fc.constant("gpt-4o"),
    messages: fc.array(message, { maxLength: 4 }),
    temperature: odd,
    max_tokens: odd,
    max_completion_tokens: fc.oneof(fc.nat(), odd),
    top_p: fc.double(),
    n: fc.oneof(fc.nat(), fc.double()),
    tools: fc.oneof(fc.array(fc.object({ maxDepth: 2 })), odd),
    tool_choice: odd,
    response_format: odd,
    stop: odd,
    stream: fc.boolean(),
    disable_log: fc.boolean(),
    metadata: fc.dictionary(text, odd, { maxKeys: 4 }),
    customer_params: fc.record({ customer_identifier: fc.constantFrom("acme", "beta"), name: text }),
    trace_unique_id: fc.constantFrom("trace-1", repeated),
    span_unique_id: fc.constantFrom("span-1", "span-2"),
    thread_identifier: fc.constantFrom("t", ""),
    span_name: text,
  },
  { requiredKeys: ["model", "messages"] },
);
const usage = fc.oneof(
  fc.constant(reply.usage),
  fc.dictionary(fc.constantFrom("prompt_tokens", "total_tokens", "x"), odd),
);
const choice = fc.record({ message: fc.oneof(message, fc.object({ maxDepth: 3 })), finish_reason: odd });
const completion = fc.record({ choices: fc.array(choice, { maxLength: 3 }), usage }, { requiredKeys: [] });
const outcome = fc.record({
  model: fc.constantFrom("gpt-4o", "", "unknown", "x".repeat(domainLimits.identifierChars + 1)),
  provider: fc.constantFrom("openai", "azure", ""),
  attempts: fc.nat(3),
  statusCode: fc.constantFrom(200, 400, 424, 499, 500),
  isCached: fc.boolean(),
  cacheKey: fc.constantFrom(undefined, "0123"),
  errorMessage: fc.option(text, { nil: undefined }),
  routedMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
  firstTokenMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
  endedMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  limitInfo: fc.constantFrom(undefined, { is_allowed: true, reason: null }),
  warnings: fc.array(text, { maxLength: 2 }),
});

test("any call has a span, and the same one from the spool", async () => {
  await fc.assert(
    fc.asyncProperty(request, fc.option(completion, { nil: undefined }), outcome, async (members, answer, facts) => {
      try {
        ledgerOf(members);
      } catch (error) {
        // The gateway refuses these parameters.
        fc.pre(!(error instanceof Error && error.name === "ServiceError"));
        throw error;
      }
      const row = await rowOf(members, (ledger) => {
        if (answer !== undefined) recordReply(ledger, answer);
        Object.assign(ledger, facts);
      });
      expect(row).toMatchObject({ organization_id: "org", log_method: "gateway", log_type: "chat" });
    }),
    { numRuns: 400 },
  );
});

test("a span has the content of the call, unless the caller wants none stored", async () => {
  const whole = await rowOf({ ...call, metadata: { a: 1, _b: 2 }, customer_identifier: "acme" }, answered);
  expect(whole).toMatchObject({
    prompt_messages: call.messages,
    completion_message: { content: "Hi" },
    customer_identifier: "acme",
    metadata: { a: 1 },
  });
  const streamed = await rowOf({ ...call, stream: true }, (ledger) => {
    const digest = createChatDigest();
    digest.add({ choices: [{ index: 0, delta: { content: "Hi" } }] });
    answered(ledger);
    recordDigest(ledger, digest);
  });
  expect(streamed).toMatchObject({ completion_message: { content: "Hi" } });
  const without = await rowOf({ ...call, disable_log: true }, answered);
  expect(JSON.stringify(without)).not.toMatch(/Hello|Hi/);
});

const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);

test.each([
  ["nests deeper than a span may", nested(filterLimits.spanDepth)],
  ["nests deeper than JSON can be written", nested(20_000)],
  ["is larger than a span may be", "x".repeat(storageLimits.spanBytes)],
  ["is larger than a span may be as UTF-8", "é".repeat(storageLimits.spanBytes / 2)],
])("a response that %s loses the content of its record, not the record", async (_what, value) => {
  const row = await rowOf(call, (ledger) => {
    answered(ledger);
    recordReply(ledger, { ...reply, choices: [{ message: { role: "assistant", content: value } }] });
  });
  expect(row).toMatchObject({ model: "gpt-4o", status: "success", total_tokens: 11 });
  expect(row["completion_message"]).toBeUndefined();
});

test("durations are whole nanoseconds, and a call's duration equals its end minus its start", async () => {
  const row = await rowOf(call, (ledger) => {
    answered(ledger);
    Object.assign(ledger, {
      routedMs: 0.25730099999964295,
      firstTokenMs: 9.0000004,
      endedMs: 15.651920999999673,
    });
  });
  expect(row).toMatchObject({ routing_time: 0.000257301, time_to_first_token: 0.009, latency: 0.015651921 });
  const { start_time, timestamp } = row as Record<string, string>;
  expect([start_time?.slice(-9), timestamp?.slice(-9)]).toEqual(["000000000", "015651921"]);
});
