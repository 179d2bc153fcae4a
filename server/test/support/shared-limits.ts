import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { Registry } from "prom-client";
import { z } from "zod";
import { createPasswords } from "../../src/auth/passwords.ts";
import { createLedgerBatches } from "../../src/customers/ledger-batches.ts";
import { deliveryLimits } from "../../src/delivery/limits.ts";
import { createJudgeGate } from "../../src/evaluation/evaluate.ts";
import { createJudgeMedia } from "../../src/evaluation/judge-media.ts";
import { createSandbox } from "../../src/evaluation/sandbox/sandbox-pool.ts";
import { createRecorder } from "../../src/gateway/record/recorder.ts";
import { BodyMemory } from "../../src/http/body-memory.ts";
import { endpoint } from "../../src/http/endpoint.ts";
import { bearer, startServer } from "../../src/http/test-support.ts";
import { createFanOut } from "../../src/ingest/fan-out/fan-out.ts";
import type { FairGate } from "../../src/lib/fair-gate.ts";
import type { WatchLimits } from "../../src/lib/fair-share.ts";
import { openJournal } from "../../src/storage/journal/journal.ts";
import { openPendingLogRecords } from "../../src/storage/journal/pending-log-records.ts";
import { createQueryGate, exportLimitNames, queryLimitNames } from "../../src/storage/spans/drivers/query-gate.ts";
import { createGatewayMetrics } from "../../src/telemetry/gateway-metrics.ts";
import { createFanOutMetrics } from "../../src/telemetry/ingest-metrics.ts";
import { deliveryBench, event } from "./delivery-bench.ts";
import { eventually, newAutomation, newEvaluator } from "./evaluation.ts";
import { storeSpans } from "./spans.ts";
import { quickPasswords, testKeys, type TestApp } from "./test-app.ts";

type Bench = {
  watch: WatchLimits;
  /** Waits until the metric shows that someone uses the limit. */
  inUse: () => Promise<unknown>;
  /** Waits until the metric shows that someone reached it. */
  isReached: () => Promise<unknown>;
  app: TestApp;
  cleanup: Array<() => Promise<unknown>>;
};

/** Reaches the limit with a greedy organization, and does the same for another one, which is admitted. */
type Reach = (bench: Bench) => Promise<unknown>;

type Run = (organization: string, work: () => Promise<unknown>) => Promise<unknown>;

/** Starts more work of one organization than there is room for, then a piece of work of another one, which completes. */
async function crowd(run: Run, count: number, inUse: () => Promise<unknown>): Promise<void> {
  const release = Promise.withResolvers<void>();
  const greedy = Promise.allSettled(Array.from({ length: count }, () => run("greedy", () => release.promise)));
  const small = run("small", () => Promise.resolve());
  small.catch(() => undefined);
  await inUse();
  release.resolve();
  await small;
  await greedy;
}

const ofGate =
  (names: readonly [string, string?], make: () => { gate: Pick<FairGate, "places" | "queue">; run: Run }): Reach =>
  async ({ watch, inUse }) => {
    const { gate, run } = make();
    watch({ [names[0]]: gate.places, ...(names[1] !== undefined && { [names[1]]: gate.queue }) });
    // Up to the queue of the largest of them.
    await crowd(run, 1_100, inUse);
  };

const signal = new AbortController().signal;
const logger = pino({ level: "silent" });

const ofQueries =
  (names: readonly [string, string]): Reach =>
  async ({ watch, inUse }) => {
    const run = createQueryGate({ inFlight: 6, queued: 10 }, { watchLimits: watch }, names);
    const statement = (organization_id: string) => ({ name: "list", sql: "", params: { organization_id } });
    await crowd((organization, work) => run(statement(organization), signal, work), 20, inUse);
  };

function newFolder(cleanup: Bench["cleanup"]): string {
  const path = mkdtempSync(join(tmpdir(), "spanway-limits-"));
  cleanup.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Whether something was admitted; `false` and errors are refusals. */
type Add = (organization: string) => unknown;

const isAdmitted = async (add: Add, organization: string): Promise<boolean> => {
  try {
    return (await add(organization)) !== false;
  } catch {
    return false;
  }
};

/** Adds for one organization until it is refused, then for another one. */
async function fill(add: Add, inUse: () => Promise<unknown>): Promise<void> {
  let added = 0;
  while (added < 1_000 && (await isAdmitted(add, "greedy"))) added += 1;
  if (added === 0 || added === 1_000) throw new Error(`${added} were admitted`);
  await inUse();
  if (!(await isAdmitted(add, "small"))) throw new Error("the other organization was refused");
}

const ofJournal =
  (bounds: { maxBytes: number; maxEntries: number }): Reach =>
  async ({ watch, inUse, cleanup }) => {
    const partyOf = (payload: Buffer) => payload.toString("utf8", 0, 1);
    const options = {
      path: newFolder(cleanup),
      identityMemoryMs: 1e9,
      isFirst: true,
      now: Date.now,
      partyOf,
      ...bounds,
    };
    const journal = openJournal(options);
    cleanup.push(() => journal.close());
    watch({ journalBytes: journal.limits.bytes, journalEntries: journal.limits.places });
    const payload = (organization: string) => Buffer.from((organization[0] ?? "").repeat(100));
    await fill((name) => journal.append({ payload: payload(name), rows: 1, identities: [] }), inUse);
  };

const ofRecords =
  (bounds: { maxRecords?: number; maxRecordBytes?: number }): Reach =>
  async ({ watch, inUse, cleanup }) => {
    const recorder = createRecorder({
      acceptCalls: () => Promise.reject(new Error("the journal is full")),
      adopt: { call: () => Promise.reject(new Error("unused")) },
      spool: { append: (texts) => texts.map(() => true), rotate: () => () => undefined, previous: [] },
      metrics: createGatewayMetrics(new Registry()),
      logger,
      onRecalled: () => undefined,
      now: Date.now,
      ...bounds,
    });
    cleanup.push(() => recorder.stop(0));
    const limits = recorder.limits();
    watch({ recordsWaiting: limits.records, recordBytesWaiting: limits.bytes });
    const record = (organization_id: string) => ({
      body: () => ({ input: "x".repeat(1_000) }),
      origin: { organization_id, environment: "prod", log_method: "gateway" } as never,
      identity: Buffer.alloc(16),
    });
    const call = (name: string) =>
      recorder.during(name, () => new Promise<void>((resolve) => recorder.add(record(name), resolve)));
    await fill(call, inUse);
  };

const demo = {
  method: "POST",
  path: "/demo",
  summary: "",
  tags: [],
  auth: "key",
  errors: [],
  success: { status: 200, schema: z.unknown() },
} as const;

/** More requests of one organization than a server takes at a time, then one of another. */
async function crowdServer(
  options: Parameters<typeof startServer>[0],
  send: (url: string, key: string) => Promise<Response>,
  { inUse, cleanup }: Pick<Bench, "inUse" | "cleanup">,
): Promise<void> {
  const server = await startServer(options);
  cleanup.push(() => server.close());
  const greedy = Array.from({ length: 40 }, async () => (await send(server.url, "key-a1")).status);
  await inUse();
  const { status } = await send(server.url, "key-b1");
  if (status !== 200) throw new Error(`the other organization got ${status}`);
  await Promise.all(greedy);
}

const unpacking: Reach = async ({ watch: watchLimits, inUse, cleanup }) => {
  const body = { kind: "raw", maxBytes: 2 ** 24 } as const;
  const endpoints = [endpoint({ ...demo, id: "upload", body, handler: () => "done" })];
  const bounds = { unpacking: { maxInFlight: 1, maxWaiting: 10 } };
  const large = gzipSync(Buffer.alloc(2 ** 22, "a"), { level: 1 });
  await crowdServer(
    { endpoints, bounds, watchLimits },
    (url, key) =>
      fetch(`${url}/demo`, {
        method: "POST",
        headers: { ...bearer(key), "content-encoding": "gzip" },
        body: key === "key-b1" ? gzipSync("b") : large,
      }),
    { inUse, cleanup },
  );
};

const reads: Reach = async ({ watch: watchLimits, inUse, cleanup }) => {
  const release = Promise.withResolvers<void>();
  const handler = () => release.promise.then(() => "done");
  const endpoints = [endpoint({ ...demo, id: "read", waitsInQueue: true, handler })];
  const bounds = { reads: { maxInFlight: 2, maxWaiting: 10, sharesSlots: true } };
  let sent = 0;
  await crowdServer(
    { endpoints, bounds, watchLimits },
    async (url, key) => {
      sent += 1;
      const answer = fetch(`${url}/demo`, { method: "POST", headers: bearer(key) });
      if (sent > 40) release.resolve();
      return await answer;
    },
    { inUse, cleanup },
  );
};

async function hooks(answers: boolean, cleanup: Bench["cleanup"]) {
  const bench = await deliveryBench(cleanup, { timeoutMs: 60_000 });
  const made = await Promise.all(Array.from({ length: answers ? 1 : 90 }, () => bench.hook()));
  if (!answers) for (const { path } of made) bench.receiver.answer(path, () => undefined);
  return { ...bench, made };
}

const webhookPlaces: Reach = async ({ watch, inUse, cleanup }) => {
  const { events, deliverer } = await hooks(false, cleanup);
  watch({ webhookInFlight: deliverer.limits().inFlight });
  await events.publishAll(Array.from({ length: 10 }, (_, i) => event(`${i}`)));
  const most = deliveryLimits.webhookInFlight * 0.75;
  await eventually(async () => deliverer.inFlight() > most || undefined);
  await inUse();
};

const webhookBytes: Reach = async ({ watch, inUse, cleanup }) => {
  const { events, deliverer, receiver, made } = await hooks(true, cleanup);
  watch({ webhookAheadBytes: deliverer.limits().aheadBytes });
  const chars = deliveryLimits.webhookAheadBytes / deliveryLimits.webhookAhead;
  const payload = () => ({ text: "x".repeat(chars) });
  const publish = (name: string, count: number) =>
    events.publishAll(Array.from({ length: count }, (_, i) => event(`${name} ${i}`, { payload })));
  await publish("first", deliveryLimits.webhookInFlightEach);
  await deliverer.idle();
  for (const { path } of made) receiver.answer(path, () => undefined);
  await publish("more", 2 * deliveryLimits.webhookAhead);
  await eventually(async () => deliverer.aheadBytes() > deliveryLimits.webhookAheadBytes / 2 || undefined);
  await inUse();
};

const evaluationRuns: Reach = async ({ app, inUse, isReached }) => {
  const greedy = await app.newOrganization();
  const endless = await newEvaluator(greedy.prod, { code_config: { eval_code_snippet: "for (;;);" } });
  const { id } = await newAutomation(greedy.prod, { evaluator_ids: [endless["id"]] });
  await storeSpans(
    greedy.prod,
    Array.from({ length: 400 }, () => ({ output: "x" })),
  );
  await inUse();
  await isReached();
  await greedy.prod.request("PATCH", `/automation/automations/${String(id)}/`, { is_enabled: false });
};

const liveStreams: Reach = async ({ app, inUse, cleanup }) => {
  const { keys } = await app.newOrganization();
  const leaving = new AbortController();
  cleanup.push(async () => leaving.abort());
  const open = (key: string) =>
    fetch(`${app.url}/api/request-logs/live/`, {
      headers: { authorization: `Bearer ${key}` },
      signal: leaving.signal,
    });
  await fill(async (name) => (await open(name === "greedy" ? keys.prod : testKeys.prod)).status === 200, inUse);
};

/** Each limit that organizations share, its effect, and how it is reached. */
export const sharedLimits: Array<[limit: string, outcome: "waited" | "refused", reach: Reach]> = [
  [
    "bodyBytesInFlight",
    "refused",
    async ({ watch, inUse }) => {
      const memory = new BodyMemory(1_000);
      watch({ bodyBytesInFlight: memory.limit });
      await fill((name) => memory.reserve(name).take(20), inUse);
    },
  ],
  ["bodiesUnpackedAtOnce", "waited", unpacking],
  ["bodiesUnpackedQueue", "refused", unpacking],
  ["readsInFlight", "waited", reads],
  ["readsWaiting", "refused", reads],
  ["queriesInFlight", "waited", ofQueries(queryLimitNames)],
  ["queriesQueued", "refused", ofQueries(queryLimitNames)],
  ["exportsInFlight", "waited", ofQueries(exportLimitNames)],
  ["exportsQueued", "refused", ofQueries(exportLimitNames)],
  ["journalBytes", "refused", ofJournal({ maxBytes: 10_000, maxEntries: 1e6 })],
  ["journalEntries", "refused", ofJournal({ maxBytes: 1e9, maxEntries: 50 })],
  ["recordsWaiting", "refused", ofRecords({ maxRecords: 20 })],
  ["recordBytesWaiting", "refused", ofRecords({ maxRecordBytes: 100_000 })],
  [
    "otlpWaitingBytes",
    "refused",
    async ({ watch, inUse, cleanup }) => {
      const partyOf = (key: string) => key;
      const records = openPendingLogRecords({ path: newFolder(cleanup), maxBytes: 1_000, partyOf, now: Date.now });
      cleanup.push(() => records.close());
      watch({ otlpWaitingBytes: records.limit });
      await fill((key) => records.add([{ key, text: "x".repeat(50) }]), inUse);
    },
  ],
  [
    "customerLedgerQueued",
    "refused",
    async ({ watch, inUse }) => {
      const ledger = createLedgerBatches({ transaction: () => new Promise(() => undefined) }, 50);
      watch({ customerLedgerQueued: ledger.limit });
      const add = (organization_id: string): boolean => {
        if (!ledger.hasRoom(organization_id)) return false;
        const key = { organization_id, environment: "prod", customer_identifier: "one" } as const;
        ledger.add({ key, run: () => Promise.resolve(() => undefined), failed: () => undefined });
        return true;
      };
      await fill(add, inUse);
    },
  ],
  [
    "fanOutRetainedBytes",
    "refused",
    async ({ watch, inUse, cleanup }) => {
      const journal = openJournal({
        path: newFolder(cleanup),
        maxBytes: 1e9,
        maxEntries: 1e6,
        identityMemoryMs: 1e9,
        now: Date.now,
      });
      cleanup.push(() => journal.close());
      const fanOut = createFanOut({
        journal,
        subscribers: [{ name: "slow", wants: () => true, consume: () => new Promise(() => undefined) }] as never,
        readBack: async function* () {},
        maxRetainedBytes: 2_000,
        metrics: createFanOutMetrics(new Registry(), journal.retained),
        logger,
      });
      watch({ fanOutRetainedBytes: fanOut.limit() });
      let seq = 0;
      const add = (organization_id: string): boolean => {
        seq += 1;
        const received_at = "2026-01-01 00:00:00.000000000";
        const span = { organization_id, environment: "prod", unique_id: `${seq}`, received_at };
        return fanOut.retain([{ seq, payload: Buffer.from(`${JSON.stringify(span)}\n`) }]).entries.length > 0;
      };
      await fill(add, inUse);
    },
  ],
  ["webhookInFlight", "waited", webhookPlaces],
  ["webhookAheadBytes", "waited", webhookBytes],
  ["evaluationRunsInFlight", "waited", evaluationRuns],
  ...(["judgesInFlight", "judgesWaiting"] as const).map((name, at): (typeof sharedLimits)[number] => [
    name,
    at === 0 ? "waited" : "refused",
    ofGate(["judgesInFlight", "judgesWaiting"], () => {
      const gate = createJudgeGate();
      return { gate, run: (organization, work) => gate.run(organization, signal, work) };
    }),
  ]),
  [
    "judgesWithMedia",
    "waited",
    ofGate(["judgesWithMedia"], () => {
      const media = createJudgeMedia({ readMedia: () => Promise.resolve([]) });
      const prompt = { text: `/api/media/${"a".repeat(64)}/`, media: new Map() } as never;
      const run: Run = (organizationId, work) => media.withMedia(prompt, { organizationId, signal }, work);
      return { gate: media.gate, run };
    }),
  ],
  ...(["sandboxThreads", "sandboxQueued"] as const).map((name, at): (typeof sharedLimits)[number] => [
    name,
    at === 0 ? "waited" : "refused",
    async ({ watch, inUse, cleanup }) => {
      const bounds = { timeMs: 200, graceMs: 20_000, memoryBytes: 2 ** 24, stackBytes: 2 ** 18, resultChars: 100 };
      const sandbox = createSandbox({ ...bounds, threads: 1, queued: 10 });
      cleanup.push(() => sandbox.stop());
      const { places, queue } = sandbox.limits();
      watch({ sandboxThreads: places, sandboxQueued: queue });
      const task = { kind: "code", code: "const main = () => 1", inputs: "{}" } as const;
      const greedy = Array.from({ length: 30 }, () => sandbox.run(task, "greedy", signal));
      const small = sandbox.run(task, "small", signal);
      await inUse();
      if (!(await small).ok) throw new Error("the other organization was refused");
      await Promise.all(greedy);
    },
  ]),
  ...(["passwordHashesInFlight", "passwordHashesQueued"] as const).map((name, at): (typeof sharedLimits)[number] => [
    name,
    at === 0 ? "waited" : "refused",
    async ({ watch, inUse }) => {
      const passwords = createPasswords(quickPasswords);
      watch({ passwordHashesInFlight: passwords.limits.places, passwordHashesQueued: passwords.limits.queue });
      const hash = (party: string) => passwords.hash("a password", { party, signal: undefined });
      const greedy = Promise.allSettled(Array.from({ length: 300 }, () => hash("greedy")));
      const small = hash("small");
      await inUse();
      await small;
      await greedy;
    },
  ]),
  ["liveListeners", "refused", liveStreams],
];
