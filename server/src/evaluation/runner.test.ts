import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { Evaluator } from "../domain/evaluator.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { createQueueCapacity } from "../ingest/fan-out/queue-capacity.ts";
import { createSpanCatalogue } from "../filter/span-fields.ts";
import { createActiveAutomations, createRunQueue, isSampled, type ActiveAutomations } from "./active-automations.ts";
import type { Evaluate, EvaluationOutcome } from "./evaluate.ts";
import { testEvaluator, testLog } from "./evaluation.fixture.ts";
import { evaluationLimits } from "./limits.ts";
import { noValue } from "../domain/score.ts";
import { startRunner, type Runner } from "./runner.ts";

const organization = "org";
const now = "2026-03-01T10:00:00.000Z";
let stores: ControlStores;
let close: () => Promise<void>;
let activeAutomations: ActiveAutomations;
let runners: Runner[];
beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
  await stores.organizations.create({
    unique_organization_id: organization,
    name: "A",
    retention_days: null,
    created_at: now,
  });
  const catalogue = createSpanCatalogue();
  activeAutomations = createActiveAutomations({
    automations: stores.automations,
    catalogue,
    onUnreadable: () => undefined,
    now: () => Date.parse(now),
  });
  runners = [];
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  await close();
});

const score: EvaluationOutcome = {
  ok: true,
  value: { ...noValue, numerical_value: 1 },
  isPassed: null,
  explanation: null,
  costUsd: 0.001,
};
const fails = (isTransient: boolean): EvaluationOutcome => ({
  ok: false,
  error: "the upstream is down",
  isTransient,
  costUsd: null,
});

async function newAutomation(configuration: Record<string, unknown> = {}, given?: Evaluator) {
  const evaluator = given ?? (await stores.evaluators.create(testEvaluator()));
  const condition = await stores.conditions.create({
    id: randomUUID(),
    unique_organization_id: organization,
    condition_slug: randomUUID(),
    name: "All",
    condition_type: "single_log",
    description: "",
    condition_policy: { rules: [] },
    created_at: now,
    updated_at: now,
  });
  const automation = await stores.automations.create({
    id: randomUUID(),
    unique_organization_id: organization,
    environment: "prod",
    automation_slug: randomUUID(),
    name: "Judge",
    automation_type: "online_eval",
    condition_id: condition.id,
    evaluator_ids: [evaluator.id],
    is_enabled: true,
    configuration: { sampling_rate: 1, ...configuration },
    created_at: now,
    updated_at: now,
  });
  await activeAutomations.refresh();
  return { automation, evaluator };
}

const logs = new Map<string, ReturnType<typeof testLog>>();
const spans = {
  hydrateSpans: (_scope: unknown, keys: ReadonlyArray<{ unique_id: string }>) =>
    Promise.resolve(keys.flatMap(({ unique_id: id }) => logs.get(id) ?? [])),
  findSpan: () => Promise.resolve(undefined),
};

const roomy = { isFull: () => false, added: () => undefined };

const newQueue = () =>
  createRunQueue({
    activeAutomations,
    stores,
    room: roomy,
    wake: (added) => runners.forEach((runner) => runner.wake(added)),
    now: Date.now,
  });

async function take(count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => testLog());
  for (const row of rows) logs.set(row.unique_id, row);
  await newQueue().consume([{ organizationId: organization, rows: rows.map(asRow) }], new AbortController().signal);
  return rows.map((row) => row.unique_id);
}

function asRow({ unique_id, timestamp, version }: ReturnType<typeof testLog>) {
  return { organization_id: organization, environment: "prod" as const, unique_id, timestamp, version };
}

async function start(evaluate: Evaluate, owner = "node-a", judgeCostUsd: number | null = null): Promise<Runner> {
  const runner = await startRunner({
    stores,
    spans,
    activeAutomations,
    evaluate,
    dailyBudgetUsd: 1,
    judgeCostUsd: () => Promise.resolve(judgeCostUsd),
    retryDelaysMs: [5, 10],
    finished: () => undefined,
    logger: pino({ level: "silent" }),
    owner,
    now: Date.now,
  });
  runners.push(runner);
  return runner;
}

const scores = async () => (await stores.scores.list(organization, {}, { limit: 1_000, offset: 0 })).scores;
async function settled(): Promise<void> {
  for (let i = 0; i < 400 && (await stores.evaluationRuns.pending(1)) > 0; i += 1) await sleep(10);
}

test("every log is evaluated once, for any number of nodes and resends", async () => {
  await newAutomation();
  const seen = new Map<string, number>();
  const evaluate: Evaluate = async (_evaluator, inputs) => {
    seen.set(String(inputs.metadata["id"]), (seen.get(String(inputs.metadata["id"])) ?? 0) + 1);
    await sleep(Math.random() * 3);
    return score;
  };
  await Promise.all(["a", "b", "c"].map((owner) => start(evaluate, owner)));
  const rows = Array.from({ length: 300 }, () => testLog());
  for (const row of rows) logs.set(row.unique_id, { ...row, metadata: JSON.stringify({ id: row.unique_id }) });
  const queue = newQueue();
  const { signal } = new AbortController();
  const batch = { organizationId: organization, rows: rows.map(asRow) };
  await queue.consume([batch], signal);
  await queue.consume([batch, batch], signal);
  await settled();
  expect(await scores()).toHaveLength(300);
  expect(seen.size).toBe(300);
  expect(new Set(seen.values())).toEqual(new Set([1]));
});

test("the queue of an organization is bounded: resends take no room, finished runs free it", async () => {
  await newAutomation();
  const room = createQueueCapacity({
    maxEntries: 100,
    count: () => stores.evaluationRuns.waiting(),
    onFull: () => undefined,
  });
  const queue = createRunQueue({ activeAutomations, stores, room, wake: () => undefined, now: Date.now });
  const takeRows = async (rows: ReadonlyArray<ReturnType<typeof testLog>>): Promise<boolean> => {
    for (const row of rows) logs.set(row.unique_id, row);
    await queue.consume([{ organizationId: organization, rows: rows.map(asRow) }], new AbortController().signal);
    return queue.isFull?.(organization) ?? false;
  };
  const rows = Array.from({ length: 60 }, () => testLog());
  expect(await takeRows(rows)).toBe(false);
  expect(await takeRows(rows)).toBe(false);
  expect(await takeRows(Array.from({ length: 40 }, () => testLog()))).toBe(true);
  await start(() => Promise.resolve(score));
  await settled();
  await room.refresh();
  expect(queue.isFull?.(organization)).toBe(false);
  expect(await scores()).toHaveLength(100);
});

describe("automations that share an evaluator", () => {
  async function twoAutomations() {
    const { evaluator } = await newAutomation();
    await newAutomation({}, evaluator);
  }

  test("have it judge a log once", async () => {
    await twoAutomations();
    let calls = 0;
    await start(async () => {
      calls += 1;
      await sleep(5);
      return score;
    });
    await take(400);
    await settled();
    expect(calls).toBe(400);
    expect(await scores()).toHaveLength(400);
  });

  test("retry for each of them after a transient failure", async () => {
    await twoAutomations();
    let calls = 0;
    await start(async () => {
      calls += 1;
      await sleep(5);
      return calls === 1 ? fails(true) : score;
    });
    await take(1);
    await settled();
    expect(calls).toBe(2);
    expect(await scores()).toMatchObject([{ status: "success" }]);
  });
});

test("a transient failure is retried, and scored once", async () => {
  const { automation } = await newAutomation();
  let calls = 0;
  await start(() => Promise.resolve((calls += 1) < 3 ? fails(true) : score));
  await take(1);
  await settled();
  expect(calls).toBe(3);
  expect(await scores()).toMatchObject([{ status: "success", numerical_value: 1 }]);
  expect(await stores.automations.find(organization, automation.id)).toMatchObject({
    last_error: "the upstream is down",
  });
});

test("a repeated failure becomes final, in the score and on the automation", async () => {
  let calls = 0;
  await newAutomation();
  await start(() => {
    calls += 1;
    return Promise.resolve(fails(true));
  });
  await take(1);
  await settled();
  expect(calls).toBe(3);
  expect(await scores()).toMatchObject([{ status: "failed", error_message: "the upstream is down" }]);
});

test("K10: a run that finds no room is retried until it does, and does not fail", async () => {
  let calls = 0;
  await newAutomation();
  await start(() => {
    calls += 1;
    return Promise.resolve(calls < 5 ? { ...fails(true), isRefused: true } : score);
  });
  await take(1);
  await settled();
  expect(calls).toBe(5);
  expect(await scores()).toMatchObject([{ status: "success" }]);
});

test("a permanent failure is not retried", async () => {
  let calls = 0;
  await newAutomation();
  await start(() => {
    calls += 1;
    return Promise.resolve(fails(false));
  });
  await take(1);
  await settled();
  expect(calls).toBe(1);
  expect(await scores()).toMatchObject([{ status: "failed" }]);
});

test("runs in flight at a crash are done after the restart, without waiting for the lease", async () => {
  await newAutomation();
  await take(5);
  const at = new Date().toISOString();
  const leaseUntil = new Date(Date.now() + 60_000).toISOString();
  const claim = { uniqueOrganizationId: organization, now: at, leaseUntil, limit: 10 };
  expect(await stores.evaluationRuns.claim({ ...claim, owner: "node-a" })).toHaveLength(5);
  await start(() => Promise.resolve(score), "node-b");
  await sleep(50);
  expect(await scores()).toHaveLength(0);
  await start(() => Promise.resolve(score), "node-a");
  await settled();
  expect(await scores()).toHaveLength(5);
});

test("a node that stops releases its unfinished runs", async () => {
  await newAutomation();
  const evaluate: Evaluate = (_evaluator, _inputs, { signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(fails(true))));
  const first = await start(evaluate);
  await take(3);
  await sleep(50);
  await first.stop();
  expect(await scores()).toHaveLength(0);
  await start(() => Promise.resolve(score), "node-b");
  await settled();
  expect(await scores()).toHaveLength(3);
});

test("a daily budget is not exceeded by more than the runs in flight", async () => {
  const { automation } = await newAutomation({ daily_budget: 0.01 });
  let calls = 0;
  await start(async () => {
    calls += 1;
    await sleep(1);
    return score;
  });
  for (let i = 0; i < 20; i += 1) {
    await take(5);
    await settled();
  }
  expect(calls).toBeGreaterThanOrEqual(10);
  expect(calls).toBeLessThanOrEqual(15);
  expect(await scores()).toHaveLength(calls);
  expect(await stores.automations.find(organization, automation.id)).toMatchObject({
    last_error: expect.stringContaining("budget"),
  });
});

test("nodes that share a control store share a daily budget", async () => {
  await newAutomation({ daily_budget: 0.01 });
  let calls = 0;
  const evaluate: Evaluate = async () => {
    calls += 1;
    await sleep(20);
    return score;
  };
  await Promise.all(["node-a", "node-b", "node-c"].map((owner) => start(evaluate, owner, 0.001)));
  // More than one node claims some.
  await take(2 * evaluationLimits.evaluationRunsPerOrganization + 10);
  await settled();
  expect(calls).toBe(10);
});

test("judgements in flight on a dead node are spent, runs that it had only claimed are not", async () => {
  const { automation } = await newAutomation({ daily_budget: 0.003 });
  await take(5);
  const [at, leaseUntil] = [new Date().toISOString(), new Date(Date.now() + 60_000).toISOString()];
  const runs = await stores.evaluationRuns.claim({
    uniqueOrganizationId: organization,
    owner: "node-a",
    now: at,
    leaseUntil,
    limit: 10,
  });
  const judgements = runs.slice(0, 2).map(({ id, attempts }) => ({ runId: id, attempt: attempts, most: 1_000 }));
  await stores.transaction(({ judgementLedger }) =>
    judgementLedger.reserve({ automationId: automation.id, day: at.slice(0, 10), budget: 3_000, judgements }),
  );
  let calls = 0;
  await start(
    () => {
      calls += 1;
      return Promise.resolve(score);
    },
    "node-a",
    0.001,
  );
  await settled();
  expect(calls).toBe(1);
});

test("the backlog of one organization does not delay another's", async () => {
  await newAutomation();
  const order: string[] = [];
  const evaluate: Evaluate = async (evaluator) => {
    order.push(evaluator.unique_organization_id);
    await sleep(2);
    return score;
  };
  await take(2_000);
  await start(evaluate);
  await stores.organizations.create({
    unique_organization_id: "zzz",
    name: "Z",
    retention_days: null,
    created_at: now,
  });
  await sleep(20);
  const { evaluator, automation } = await newAutomation();
  const log = testLog();
  logs.set(log.unique_id, log);
  await stores.evaluationRuns.enqueue(
    [
      {
        automation_id: automation.id,
        evaluator_id: evaluator.id,
        log_id: log.unique_id,
        unique_organization_id: "zzz",
        environment: "prod",
        log_timestamp: log.timestamp,
      },
    ],
    new Date().toISOString(),
  );
  runners[0]?.wake(1);
  for (let i = 0; i < 600; i += 1) {
    if ((await stores.evaluationRuns.nextOrganization("y")) === undefined) break;
    await sleep(5);
  }
  expect(await stores.evaluationRuns.nextOrganization("y")).toBeUndefined();
  expect(order.length).toBeLessThan(2_000);
});

describe("a sample", () => {
  test("depends only on the ids", () => {
    // Fixed ids: with random ones, a fair sample would fail once in some 400 runs.
    const ids = Array.from({ length: 10_000 }, (_, number) => `span-${number}`);
    const chosen = ids.filter((id) => isSampled(id, "automation", 0.1));
    expect(chosen).toEqual(ids.filter((id) => isSampled(id, "automation", 0.1)));
    // Three standard deviations around a thousand.
    expect(Math.abs(chosen.length - 1_000)).toBeLessThan(90);
    expect(ids.filter((id) => isSampled(id, "another", 0.1))).not.toEqual(chosen);
  });

  test("grows with its rate, from nothing to all", () => {
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    const at = (rate: number) => new Set(ids.filter((id) => isSampled(id, "automation", rate)));
    expect(at(0).size).toBe(0);
    expect(at(1).size).toBe(1_000);
    expect([...at(0.2)].every((id) => at(0.5).has(id))).toBe(true);
  });
});
