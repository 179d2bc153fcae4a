import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, expect, test } from "vitest";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanRow } from "../../domain/span.ts";
import { createSpanIntake } from "../../ingest/accept/accept.ts";
import { createAcceptCalls } from "../../ingest/accept/recorded-call.ts";
import { createAdopt } from "../../ingest/writer/adopt.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { newIdentity, spanIdentity } from "../../domain/identity.ts";
import { encodeFrame, openCallSpool } from "../../storage/journal/call-spool.ts";
import { openJournal, type Journal } from "../../storage/journal/journal.ts";
import { createGatewayMetrics } from "../../telemetry/gateway-metrics.ts";
import { createIngestMetrics } from "../../telemetry/ingest-metrics.ts";
import { createRecorder, type CallFacts } from "./recorder.ts";

const cleanup: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "spanway-recorder-"));
  cleanup.push(() => rmSync(path, { recursive: true }));
  return path;
}

/**
 * A recorder with room for three records of one organization, and a journal that is full until changed. Uses the data
 * folder of an earlier one if given.
 */
function start(path = newFolder(), { maxSpoolBytes = 1e6 } = {}) {
  const [rows, recalled]: [SpanRow[], string[]] = [[], []];
  const state = { isFull: true, fullAfter: Infinity, refusals: 0 };
  const registry = new Registry();
  const options = { maxBytes: 1e9, maxEntries: 1e6, identityMemoryMs: 1e9, isFirst: true, now: Date.now };
  const journal = openJournal({ path: join(path, "journal"), ...options });
  const problems: string[] = [];
  const spool = openCallSpool({
    path: join(path, "calls"),
    maxBytes: maxSpoolBytes,
    onProblem: ({ reason }) => problems.push(reason),
  });
  const writer = {
    add(_entry: unknown, payload: Buffer): void {
      const lines = payload.toString().trimEnd().split("\n");
      rows.push(...lines.map((line) => JSON.parse(line) as SpanRow));
    },
  };
  const guarded: Journal = {
    ...journal,
    append: (entry) => {
      state.fullAfter -= state.isFull ? 0 : 1;
      if (!state.isFull && state.fullAfter >= 0) return journal.append(entry);
      state.refusals += 1;
      return Promise.reject(new ServiceError("unavailable", "The journal is full."));
    },
  };
  const intake = createSpanIntake({
    journal: guarded,
    prices: createPriceBook({ maxModels: 10 }),
    metrics: createIngestMetrics(new Registry(), journal),
    writer,
    now: Date.now,
  });
  const metrics = createGatewayMetrics(registry);
  const logger = pino({ level: "silent" });
  const acceptCalls = createAcceptCalls({ intake, logger });
  const recorder = createRecorder({
    acceptCalls,
    adopt: createAdopt({ intake, acceptCalls, journal: guarded, writer, logger }),
    spool,
    metrics,
    logger,
    onRecalled: (row) => recalled.push(row.unique_id),
    now: Date.now,
    maxRecords: 4,
  });
  /** Simulates the death of the process; resolves when only its files are left. */
  let death: Promise<void> | undefined;
  const die = (): Promise<void> =>
    (death ??= (async () => {
      state.isFull = true;
      await recorder.stop(0);
      spool.close();
      await journal.close();
    })());
  cleanup.push(die);
  const metric = async (name: string): Promise<number> =>
    Number(/ (\S+)$/.exec(await registry.getSingleMetricAsString(`spanway_gateway_${name}`))?.[1]);
  const files = (): Record<string, number> => {
    const names = readdirSync(join(path, "calls"));
    return Object.fromEntries(names.map((name) => [name, statSync(join(path, "calls", name)).size]));
  };
  const models = (): string[] => rows.map(({ model }) => model ?? "");
  return { path, rows, recalled, models, state, recorder, metric, problems, files, die };
}

const sizeOf = (files: Record<string, number>): number => files["0"] ?? 0;

const originOf = (organization_id: string, key = "key") =>
  ({
    organization_id,
    environment: "prod",
    organization_key_id: key,
    organization_key_name: key,
    log_method: "gateway",
  }) as const;

function record(model: string, organization = "org", more: Record<string, unknown> = {}): CallFacts {
  const body = { model, start_time: "2027-01-15 08:00:00.123456789", ...more };
  return { body: () => body, origin: originOf(organization), identity: newIdentity() };
}

test("while the journal accepts nothing, calls are accepted as long as there is room for their records, and none is lost", async () => {
  const { models, state, recorder, metric, files } = start();
  const call = (model: string): Promise<void> =>
    recorder.during("org", () => new Promise((resolve) => recorder.add(record(model), resolve)));
  for (const model of ["1", "2", "3"]) await call(model);
  let started = 0;
  const refused = recorder.during("org", () => {
    started += 1;
    return Promise.resolve();
  });
  await expect(refused).rejects.toMatchObject({ code: "unavailable", retryAfterS: 1 });
  expect(started).toBe(0);
  // Calls of another organization are still accepted.
  await recorder.during("other", () => Promise.resolve());
  await expect.poll(() => state.refusals).toBeGreaterThan(1);
  expect(await metric("records_waiting")).toBe(3);

  state.isFull = false;
  await expect.poll(models).toEqual(["1", "2", "3"]);
  await call("4");
  await recorder.stop(1_000);
  expect(models()).toEqual(["1", "2", "3", "4"]);
  expect(files()).toEqual({ 0: 0, 1: 0 });
});

test("calls that end together are answered once all their records are on disk", async () => {
  const { recorder, files } = start();
  const sizes = await Promise.all(
    ["1", "2"].map(
      (model) => new Promise<number>((resolve) => recorder.add(record(model), () => resolve(sizeOf(files())))),
    ),
  );
  expect(sizes[0]).toBeGreaterThan(0);
  expect(sizes[1]).toBe(sizes[0]);
});

test("records of several organizations are written separately, in their order", async () => {
  const { models, state, recorder } = start();
  for (const [model, organization] of [
    ["a1", "a"],
    ["b1", "b"],
    ["a2", "a"],
  ] as const)
    recorder.add(record(model, organization));
  state.isFull = false;
  await recorder.stop(1_000);
  expect(models()).toEqual(["a1", "a2", "b1"]);
});

test("stop waits for running calls and their records, up to its limit", async () => {
  const { models, state, recorder } = start();
  state.isFull = false;
  const call = recorder.during("org", async () => {
    await sleep(50);
    recorder.add(record("late"));
  });
  await recorder.stop(5_000);
  expect(models()).toEqual(["late"]);
  await call;
});

test("the next process writes the records that the last one left to the journal, with the same ids, times and values", async () => {
  const first = start();
  const whole = record("whole", "a", {
    latency: 1.5,
    metadata: { id: 12345678901234567890n.toString(), ключ: "значение 🙂" },
    prompt_messages: [{ role: "user", content: "line\nbreak" }],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  });
  first.recorder.add(whole);
  for (const model of ["2", "3"]) first.recorder.add(record(model, "b"));
  await expect.poll(() => first.state.refusals).toBeGreaterThan(0);
  await first.die();
  expect(await first.metric("records_lost_total")).toBe(0);

  const second = start(first.path);
  second.state.isFull = false;
  await second.recorder.start();
  expect(second.models()).toEqual(["whole", "2", "3"]);
  const [row] = second.rows;
  expect(row).toMatchObject({
    unique_id: whole.identity.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    is_resend: 1,
    start_time: "2027-01-15 08:00:00.123456789",
    latency: 1.5,
    total_tokens: 7,
    metadata: { ключ: "значение 🙂" },
    prompt_messages: [{ content: "line\nbreak" }],
    organization_key_id: "key",
    log_method: "gateway",
  });
  expect(await second.metric("records_recalled_total")).toBe(3);
  expect([first.recalled, second.recalled]).toEqual([[], second.rows.map(({ unique_id }) => unique_id)]);
  expect(second.files()).toEqual({});
});

test("a journal that accepts nothing at the start delays neither the start nor new calls, and gets all records in the end", async () => {
  const first = start();
  first.recorder.add(record("old"));
  await first.die();
  const second = start(first.path);
  const starting = second.recorder.start();
  second.recorder.add(record("new"));
  await expect.poll(() => second.state.refusals).toBeGreaterThan(0);
  await second.die();
  await starting;
  const third = start(first.path);
  third.state.isFull = false;
  await third.recorder.start();
  expect(third.models()).toEqual(["old", "new"]);
});

test.each([
  ["of this version", false],
  ["of version 0.1", true],
])(
  "records %s that reached the journal before the process died get one more, equal row, marked as a resend",
  async (_name, areRows) => {
    const first = start();
    const trace = { trace_unique_id: "t", span_unique_id: "s" };
    const { organization_id, environment } = originOf("a");
    const identity = spanIdentity({ organization_id, environment, trace: "t", span: "s" });
    first.recorder.add({ ...record("named", "a", trace), identity });
    first.recorder.add(record("unnamed", "a"));
    await new Promise<void>((resolve) => first.recorder.add(record("b", "b"), resolve));
    const file = join(first.path, "calls", "0");
    const bytes = readFileSync(file);
    first.state.isFull = false;
    await expect.poll(first.models).toEqual(["named", "unnamed", "b"]);
    const accepted = first.rows.map((row) => JSON.stringify(row));
    await first.die();

    // As if the process had died before it removed its files.
    const frames = accepted.map((line) => Buffer.from(encodeFrame(line, Buffer.alloc(0))));
    writeFileSync(file, areRows ? Buffer.concat(frames) : bytes);

    const second = start(first.path);
    second.state.isFull = false;
    await second.recorder.start();
    // The identity of the named one is remembered: it needs no second row.
    expect(second.models()).toEqual(["unnamed", "b"]);
    for (const row of second.rows) {
      const { is_resend, ...rest } = row;
      expect(is_resend).toBe(1);
      expect(accepted).toContain(JSON.stringify(rest));
    }
  },
);

test.each([
  ["cut off in its last record", (bytes: Buffer) => bytes.subarray(0, -5), ["1", "2"], []],
  ["cut off in a head", (bytes: Buffer) => Buffer.concat([bytes, bytes.subarray(0, 3)]), ["1", "2", "3"], []],
  ["followed by zeroes", (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(4_096)]), ["1", "2", "3"], []],
  ["of another program", () => Buffer.from("this is no file of records of calls"), [], ["damaged"]],
  [
    "flipped in its last record",
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -9), Buffer.from("!"), bytes.subarray(-8)]),
    ["1", "2"],
    ["damaged"],
  ],
] as const)("a file %s yields its intact records, and blocks nothing", async (_name, change, expected, remaining) => {
  const first = start();
  for (const model of ["1", "2", "3"]) first.recorder.add(record(model));
  await first.die();
  const file = join(first.path, "calls", "0");
  writeFileSync(file, change(readFileSync(file)));
  const second = start(first.path);
  second.state.isFull = false;
  await second.recorder.start();
  expect(second.models()).toEqual(expected);
  expect(Object.keys(second.files()).map((name) => name.split("-")[0])).toEqual(remaining);
  expect(second.problems).toHaveLength(remaining.length);
  second.recorder.add(record("next"));
  await second.recorder.stop(1_000);
  expect(second.models()).toEqual([...expected, "next"]);
});

test("records that the spool refuses wait in memory, are counted, and are lost only if the journal refuses them too", async () => {
  const { models, state, recorder, metric, files } = start(undefined, { maxSpoolBytes: 2_000 });
  const large = { prompt_messages: [{ role: "user", content: "x".repeat(3_000) }] };
  recorder.add(record("small"));
  await new Promise<void>((resolve) => recorder.add(record("large", "org", large), resolve));
  expect(await metric("records_unspooled_total")).toBe(1);
  state.isFull = false;
  await expect.poll(models).toEqual(["small", "large"]);
  state.isFull = true;
  recorder.add(record("small"));
  recorder.add(record("large", "org", large));
  await recorder.stop(50);
  expect(await metric("records_lost_total")).toBe(1);
  expect(Math.max(...Object.values(files()))).toBeGreaterThan(0);
});

test("if the disk fails, records wait in memory, the operator is notified once, and the spool resumes when it can", async () => {
  const { path, models, state, recorder, metric, problems, files } = start();
  const blocked = join(path, "calls", "0");
  mkdirSync(blocked);
  await Promise.all(["1", "2"].map((model) => new Promise<void>((resolve) => recorder.add(record(model), resolve))));
  expect([problems.length, await metric("records_unspooled_total")]).toEqual([1, 2]);
  rmdirSync(blocked);
  await new Promise<void>((resolve) => recorder.add(record("3"), resolve));
  expect(await metric("records_unspooled_total")).toBe(2);
  expect(files()["0"]).toBeGreaterThan(0);
  state.isFull = false;
  await recorder.stop(1_000);
  expect(models()).toEqual(["1", "2", "3"]);
  expect(await metric("records_lost_total")).toBe(0);
});

test("a batch that is refused is accepted once, whatever its calls contain", async () => {
  const { models, state, recorder, rows } = start();
  const nested: unknown = JSON.parse(`${'{"a":'.repeat(400)}1${"}".repeat(400)}`);
  recorder.add(record("plain"));
  recorder.add(record("nested", "org", { completion_message: nested }));
  // The journal accepts one entry and refuses the next.
  await expect.poll(() => state.refusals).toBeGreaterThan(0);
  state.fullAfter = 1;
  state.isFull = false;
  await expect.poll(models).toContain("plain");
  await recorder.caughtUp(1_000);
  state.fullAfter = Infinity;
  await recorder.stop(1_000);
  expect(models()).toEqual(["plain", "nested"]);
  expect(new Set(rows.map(({ unique_id }) => unique_id)).size).toBe(2);
});

test("files of records are readable only by their owner", async () => {
  const { path, recorder, die } = start();
  await new Promise<void>((resolve) => recorder.add(record("1"), resolve));
  expect(statSync(join(path, "calls", "0")).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "calls")).mode & 0o777).toBe(0o700);
  await die();
});
