import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSpanCatalogue } from "../../filter/span-fields.ts";
import { ingestLimits } from "../limits.ts";
import { openPendingLogRecords, type PendingLogRecords } from "../../storage/journal/pending-log-records.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import type { SpanStore, StoredSpan } from "../../storage/spans/span-store.ts";
import type { SpanIntake } from "../accept/accept.ts";
import type { ExportRequest, OtlpLogRecord } from "./export-request.ts";
import { createLogJoiner, partyOfKey, type LogJoiner } from "./join-logs.ts";

const origin = {
  organization_id: "org",
  environment: "prod" as const,
  organization_key_id: "key",
  organization_key_name: "Key",
  log_method: "tracing_integration",
};
const signal = new AbortController().signal;
let dir: string;
let events: PendingLogRecords;
let nowMs = 0;
let lookups = 0;
let accepted: unknown[] = [];

const open = (maxBytes = 1_000_000): PendingLogRecords =>
  openPendingLogRecords({ path: join(dir, "events"), maxBytes, partyOf: partyOfKey, now: () => nowMs });
/** The content of the span store, and the spans that were accepted last. */
let stored: StoredSpan[] = [];
let last: IdentityRecord | undefined;
/** Runs while the store is being read. */
let meanwhile = (): void => undefined;
let meanwhileOfMedia = (): void => undefined;
const spans: Pick<SpanStore, "listSpans" | "readMedia"> = {
  readMedia: async () => {
    meanwhileOfMedia();
    return [];
  },
  listSpans: async () => {
    lookups += 1;
    const rows = stored;
    meanwhile();
    return { count: rows.length, rows };
  },
};
const journal = { lookup: () => last };
const intake: Pick<SpanIntake, "accept"> = {
  accept: async (bodies) => {
    accepted.push(...bodies);
    return [];
  },
};
const joiner = (): LogJoiner =>
  createLogJoiner({ events, spans, intake, journal, catalogue: createSpanCatalogue(), now: () => nowMs });
const exportOf = (spanId: string, content = "Weather?"): ExportRequest<OtlpLogRecord> => ({
  malformed: 0,
  groups: [
    {
      resource: new Map(),
      scope: { name: "", version: "", attributes: new Map() },
      items: [
        {
          traceId: "a".repeat(32),
          spanId,
          timeNs: 1_700_000_000_000_000_001n,
          severity: 0,
          eventName: "gen_ai.user.message",
          body: { content },
          attributes: new Map([["plan", "pro"]]),
        },
      ],
    },
  ],
});
const spanId = "b".repeat(16);
/** The span that the record becomes if its own span never arrives. */
const ownSpan = {
  trace_unique_id: "a".repeat(32),
  span_unique_id: spanId,
  log_type: "chat",
  span_name: "gen_ai.user.message",
  timestamp: "2023-11-14T22:13:20.000000001Z",
  metadata: { plan: "pro" },
  prompt_messages: [{ role: "user", content: "Weather?" }],
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "spanway-logs-"));
  events = open();
  nowMs = 1_000_000;
  lookups = 0;
  accepted = [];
  stored = [];
  last = undefined;
  meanwhile = () => undefined;
  meanwhileOfMedia = () => undefined;
});
afterEach(async () => {
  await events.close();
  await rm(dir, { recursive: true, force: true });
});

test("waiting records survive a restart", async () => {
  await joiner().accept(exportOf(spanId), origin);
  await events.close();
  events = open();
  expect(joiner().eventsFor(origin, { traceId: "a".repeat(32), spanId })).toEqual([
    {
      name: "gen_ai.user.message",
      timeNs: 1_700_000_000_000_000_001n,
      attributes: new Map([
        ["content", "Weather?"],
        ["plan", "pro"],
      ]),
    },
  ]);
});

test("a span that does not arrive is looked up less and less often", async () => {
  const logs = joiner();
  await logs.accept(exportOf(spanId), origin);
  await logs.joinWaiting(signal);
  expect(lookups).toBe(0);
  for (let second = 0; second < 600; second += 1) {
    nowMs += 1_000;
    await logs.joinWaiting(signal);
  }
  expect(lookups).toBeGreaterThan(5);
  expect(lookups).toBeLessThan(40);
  expect(accepted).toEqual([]);
});

test("messages of a span that never arrived are stored as a span of their own", async () => {
  const logs = joiner();
  await logs.accept(exportOf(spanId), origin);
  nowMs += ingestLimits.otlpJoinMs + 1;
  await logs.joinWaiting(signal);
  expect(accepted).toEqual([ownSpan]);
  expect(events.isEmpty()).toBe(true);
});

test("without its span, an exception or an evaluation is dropped, but counts beside messages", async () => {
  const named = (eventName: string, span: string): ExportRequest<OtlpLogRecord> => {
    const request = exportOf(span);
    const attributes = new Map([["exception.message", "503 busy"]]);
    for (const group of request.groups)
      group.items = group.items.map((item) => ({ ...item, eventName, body: null, attributes }));
    return request;
  };
  const logs = joiner();
  const exception = "gen_ai.client.operation.exception";
  expect(await logs.accept(named(exception, "c".repeat(16)), origin)).toBe(1);
  expect(await logs.accept(named("gen_ai.evaluation.result", "d".repeat(16)), origin)).toBe(1);
  await logs.accept(named(exception, spanId), origin);
  await logs.accept(exportOf(spanId), origin);
  nowMs += ingestLimits.otlpJoinMs + 1;
  await logs.joinWaiting(signal);
  expect(accepted).toEqual([
    {
      ...ownSpan,
      status: "error",
      status_code: 503,
      error_message: "503 busy",
      metadata: { plan: "pro", "otel.events": [expect.objectContaining({ name: exception })] },
    },
  ]);
  expect(events.isEmpty()).toBe(true);
});

describe("a span that is resent while its stored version is read", () => {
  // The columns that distinguish versions.
  const version = (of: number): StoredSpan =>
    ({
      trace_unique_id: "a".repeat(32),
      span_unique_id: spanId,
      span_name: `version ${of}`,
      timestamp: "2023-11-14T22:13:20Z",
      version: String(of),
    }) as StoredSpan;
  const sendAgain = (): void => {
    last = { timestampNs: 0n, version: 2n, firstReceivedNs: 2n };
  };

  beforeEach(async () => {
    stored = [version(1)];
    meanwhile = sendAgain;
    await joiner().accept(exportOf(spanId), origin);
    nowMs += ingestLimits.otlpJoinAfterMs;
  });

  test("is not replaced by the version read: its messages wait for the resent one", async () => {
    const logs = joiner();
    await logs.joinWaiting(signal);
    expect(accepted).toEqual([]);
    stored = [version(2)];
    nowMs += ingestLimits.otlpJoinAfterMs;
    await logs.joinWaiting(signal);
    expect(accepted).toMatchObject([{ span_name: "version 2", prompt_messages: [{ content: "Weather?" }] }]);
    expect(events.isEmpty()).toBe(true);
  });

  test("nor while its media is read", async () => {
    meanwhile = () => undefined;
    meanwhileOfMedia = sendAgain;
    stored = [{ ...version(1), input: `/api/media/${"a".repeat(64)}/` }];
    await joiner().joinWaiting(signal);
    expect(accepted).toEqual([]);
    expect(events.isEmpty()).toBe(false);
  });

  test("is completed in its stored version if the store never takes the resent one", async () => {
    nowMs += ingestLimits.otlpJoinMs;
    await joiner().joinWaiting(signal);
    expect(accepted).toMatchObject([{ span_name: "version 1", prompt_messages: [{ content: "Weather?" }] }]);
    expect(events.isEmpty()).toBe(true);
  });
});

test("resent records add nothing", async () => {
  const logs = joiner();
  for (let time = 0; time < 3; time += 1) await logs.accept(exportOf(spanId), origin);
  expect(logs.eventsFor(origin, { traceId: "a".repeat(32), spanId })).toHaveLength(1);
  nowMs += ingestLimits.otlpJoinMs + 1;
  await logs.joinWaiting(signal);
  expect(accepted).toMatchObject([{ prompt_messages: [{ role: "user", content: "Weather?" }] }]);
  expect(events.isEmpty()).toBe(true);
});

test("records beyond the limit are refused, so that the exporter retries", async () => {
  await events.close();
  events = open(500);
  const logs = joiner();
  await expect(logs.accept(exportOf(spanId, "x".repeat(500)), origin)).rejects.toMatchObject({ code: "unavailable" });
  expect(events.isEmpty()).toBe(true);
  await logs.accept(exportOf(spanId), origin);
  expect(events.isEmpty()).toBe(false);
});

test("an organization that fills its share does not block another, before and after a restart", async () => {
  await events.close();
  events = open(20_000);
  const hog = { ...origin, organization_id: "hog" };
  const taken = async (): Promise<boolean> => {
    const [outcome] = await Promise.allSettled([joiner().accept(exportOf(spanId, "x".repeat(100)), hog)]);
    return outcome.status === "fulfilled";
  };
  const fill = async (): Promise<number> => {
    let exports = 0;
    while (await taken()) exports += 1;
    return exports;
  };
  expect(await fill()).toBeGreaterThan(20);
  expect(events.stats().bytes).toBeLessThanOrEqual(16_000);
  expect(events.stats().refused).toBe(1);
  await joiner().accept(exportOf(spanId), origin);

  await events.close();
  events = open(20_000);
  expect(await fill()).toBe(0);
  await joiner().accept(exportOf("c".repeat(16)), origin);
  // Records that were joined or given up free their space.
  nowMs += ingestLimits.otlpJoinMs + 1;
  await joiner().joinWaiting(signal);
  expect(events.stats()).toEqual({ spans: 0, bytes: 0, refused: 1 });
  expect(await fill()).toBeGreaterThan(20);
});
