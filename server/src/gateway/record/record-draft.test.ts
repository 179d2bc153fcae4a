import fc from "fast-check";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createSpanIntake, type SpanIntake } from "../../ingest/accept/accept.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { createIngestMetrics } from "../../telemetry/ingest-metrics.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import { newLedger, takeDigest, takeParams, takeReply, type CallLedger } from "../call/call-ledger.ts";
import { createChatDigest } from "../chat/chat-digest.ts";
import { prepareRecord } from "./prepare-record.ts";
import { readMembers, withoutServiceParams } from "../chat/read-chat-request.ts";
import { completeDraft, draftRecord } from "./record-draft.ts";
import { readServiceParams } from "../request/service-params.ts";
import { spanOfCall } from "./span-of-call.ts";

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

/** An intake with a fixed clock. */
function newIntake(): Pick<SpanIntake, "prepare" | "prepareRead"> {
  const metrics = createIngestMetrics(new Registry(), { waiting: () => ({ entries: 0, bytes: 0 }) } as never);
  return createSpanIntake({ journal: {} as never, prices, metrics, committed: () => undefined, now: () => 1.8e12 });
}

function ledgerOf(request: Record<string, unknown>): { ledger: CallLedger; bytes: number } {
  const ledger = newLedger(
    { origin, startedAtMs: 1.8e12 - 1_000 },
    { claim: () => request["trace_unique_id"] !== repeated },
    "chat",
  );
  const body = Buffer.from(JSON.stringify(request));
  const members = readMembers(body);
  ledger.asked = withoutServiceParams(members);
  takeParams(ledger, readServiceParams(members, { headers: {}, permissions: new Set() }));
  return { ledger, bytes: body.length };
}

/** The stored line of a call, with and without a precomputed span. */
function linesOf(
  request: Record<string, unknown>,
  end: (ledger: CallLedger) => void,
): { drafted: unknown; whole: unknown; hasDraft: boolean } {
  const { ledger, bytes } = ledgerOf(request);
  const draft = draftRecord(ledger, bytes);
  end(ledger);
  const record = { body: () => spanOfCall(ledger), origin, identity: ledger.identity };
  const read = draft && completeDraft(draft, ledger);
  const whole = prepareRecord(newIntake(), record, logger);
  const drafted = prepareRecord(newIntake(), { ...record, read }, logger);
  expect(drafted?.row).toEqual(whole?.row);
  return { drafted: parsed(drafted?.line), whole: parsed(whole?.line), hasDraft: read !== undefined };
}

function parsed(line: string | undefined): unknown {
  return JSON.parse(line ?? "null") as unknown;
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
  takeReply(ledger, reply);
}

test("stores a reply's choices in the order of their index", () => {
  const ledger = newLedger({ origin, startedAtMs: 0 }, { claim: () => true }, "chat");
  const choices = [2, 0, 1].map((index) => ({ index, message: { role: "assistant", content: String(index) } }));
  takeReply(ledger, { choices });
  expect(ledger.messages.map(({ content }) => content)).toEqual(["0", "1", "2"]);
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom("", "x".repeat(domainLimits.identifierChars + 1), '\ud83d\ude00 é \n"\\'),
);
const odd = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text);
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
  isCut: fc.boolean(),
  isCached: fc.boolean(),
  cacheKey: fc.constantFrom(undefined, "0123"),
  errorMessage: fc.option(text, { nil: undefined }),
  routedMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
  firstTokenMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
  endedMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  limitInfo: fc.constantFrom(undefined, { is_allowed: true, reason: null }),
  warnings: fc.array(text, { maxLength: 2 }),
});

test("a precomputed record equals the one that the intake builds from the whole body, for any call", () => {
  fc.assert(
    fc.property(request, fc.option(completion, { nil: undefined }), outcome, (asked, answer, facts) => {
      let lines;
      try {
        lines = linesOf(asked, (ledger) => {
          if (answer !== undefined) takeReply(ledger, answer);
          Object.assign(ledger, facts);
        });
      } catch (error) {
        // Requests whose parameters the gateway refuses have no precomputed span.
        fc.pre(!(error instanceof Error && error.name === "ServiceError"));
        throw error;
      }
      expect(lines.drafted).toEqual(lines.whole);
    }),
    { numRuns: 1_500 },
  );
});

test("common calls are precomputed: whole, streamed, with tools, with parameters or without content", () => {
  const lines = [
    linesOf(call, answered),
    linesOf({ ...call, tools: [{ type: "function", function: { name: "f" } }], temperature: 0.5 }, answered),
    linesOf({ ...call, metadata: { a: 1, _b: 2 }, customer_identifier: "acme", thread_identifier: "t" }, answered),
    linesOf({ ...call, disable_log: true }, answered),
    linesOf({ ...call, stream: true }, (ledger) => {
      const digest = createChatDigest();
      digest.add({ choices: [{ index: 0, delta: { content: "Hi" } }] });
      answered(ledger);
      takeDigest(ledger, digest);
    }),
  ];
  for (const { drafted, whole, hasDraft } of lines) {
    expect(hasDraft).toBe(true);
    expect(drafted).toEqual(whole);
  }
  expect(lines[0]?.whole).toMatchObject({ prompt_messages: call.messages, completion_message: { content: "Hi" } });
  expect(JSON.stringify(lines[3]?.whole)).not.toMatch(/Hello|Hi/);
});

test("a response that nests too deep loses the content of its record, not the record", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(filterLimits.spanDepth)}1${"}".repeat(filterLimits.spanDepth)}`) as object;
  const { drafted, whole, hasDraft } = linesOf(call, (ledger) => {
    answered(ledger);
    takeReply(ledger, { ...reply, choices: [{ message: { role: "assistant", content: deep } }] });
  });
  expect(hasDraft).toBe(false);
  expect(drafted).toEqual(whole);
  expect(whole).toMatchObject({ model: "gpt-4o", status: "success" });
});

test("durations are whole nanoseconds, and a call's duration equals its end minus its start", () => {
  const { whole } = linesOf(call, (ledger) => {
    answered(ledger);
    Object.assign(ledger, {
      routedMs: 0.25730099999964295,
      firstTokenMs: 9.0000004,
      endedMs: 15.651920999999673,
    });
  });
  expect(whole).toMatchObject({ routing_time: 0.000257301, time_to_first_token: 0.009, latency: 0.015651921 });
  const { start_time, timestamp } = whole as Record<string, string>;
  expect([start_time?.slice(-9), timestamp?.slice(-9)]).toEqual(["000000000", "015651921"]);
});
