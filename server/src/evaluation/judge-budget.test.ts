import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { testEvaluator } from "./evaluation.fixture.ts";
import { createJudgeBudget, type JudgeBudget } from "./judge-budget.ts";

const now = "2026-03-01T10:00:00.000Z";
const day = "2026-03-01";
let stores: ControlStores;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
  await stores.organizations.create({
    unique_organization_id: "org",
    name: "A",
    retention_days: null,
    created_at: now,
  });
});
afterEach(() => close());

/** Claimed runs of a new automation, as requests for judgements. */
async function newRequests(count: number, { most, budget }: { most: number; budget: number }) {
  const common = { unique_organization_id: "org", created_at: now, updated_at: now };
  const evaluator = await stores.evaluators.create(testEvaluator());
  const condition = await stores.conditions.create({
    ...common,
    id: randomUUID(),
    condition_slug: randomUUID(),
    name: "All",
    condition_type: "single_log",
    description: "",
    condition_policy: { rules: [] },
  });
  const automation = await stores.automations.create({
    ...common,
    id: randomUUID(),
    environment: "prod",
    automation_slug: randomUUID(),
    name: "Judge",
    automation_type: "online_eval",
    condition_id: condition.id,
    evaluator_ids: [evaluator.id],
    is_enabled: true,
    configuration: { sampling_rate: 1 },
  });
  await stores.evaluationRuns.enqueue(
    Array.from({ length: count }, () => ({
      automation_id: automation.id,
      evaluator_id: evaluator.id,
      log_id: randomUUID(),
      unique_organization_id: "org",
      environment: "prod" as const,
      log_timestamp: "2026-03-01 10:00:00.000000000",
    })),
    now,
  );
  const leaseUntil = new Date(Date.parse(now) + 60_000).toISOString();
  const runs = await stores.evaluationRuns.claim({
    uniqueOrganizationId: "org",
    owner: "node",
    now,
    leaseUntil,
    limit: count,
  });
  return runs.map(({ id, attempts }) => ({ automationId: automation.id, runId: id, attempt: attempts, most, budget }));
}

function newNode(): JudgeBudget {
  return createJudgeBudget((request) =>
    stores.transaction(({ judgementLedger }) => judgementLedger.reserve({ ...request, day })),
  );
}

/**
 * Runs concurrent judgements of one automation on some nodes. Returns the spending, their number, and the most at a
 * time.
 */
async function judge(
  count: number,
  { cost, nodes = 1, ...request }: Record<"most" | "cost" | "budget", number> & { nodes?: number },
) {
  let [made, inFlight, peak] = [0, 0, 0];
  const budgets = Array.from({ length: nodes }, newNode);
  const requests = await newRequests(count, request);
  const { signal } = new AbortController();
  await Promise.all(
    requests.map(async (each, index) => {
      const budget = budgets[index % nodes]!;
      if ((await budget.enter(each, signal)) === "spent") return;
      made += 1;
      peak = Math.max(peak, (inFlight += 1));
      await sleep(10);
      inFlight -= 1;
      budget.made(each);
      await sleep(3);
      await stores.transaction(({ judgementLedger }) => judgementLedger.settle([{ ...each, microUsd: cost }]));
      budget.recorded(each.automationId);
    }),
  );
  return { made, spent: made * cost, peak };
}

test("a burst spends no more than the budget and what one judgement costs", async () => {
  expect(await judge(30, { most: 10, cost: 10, budget: 35 })).toMatchObject({ made: 4, spent: 40 });
  expect(await judge(30, { most: 160, cost: 9, budget: 30 })).toMatchObject({ made: 4, spent: 36, peak: 1 });
});

test("a burst on several nodes spends no more than on one", async () => {
  expect(await judge(30, { most: 10, cost: 10, budget: 35, nodes: 3 })).toMatchObject({ made: 4, spent: 40 });
  expect(await judge(30, { most: 160, cost: 15, budget: 30, nodes: 2 })).toMatchObject({ made: 2, peak: 1 });
});

test("judgements run concurrently as far as they fit, and use the whole budget", async () => {
  expect(await judge(60, { most: 10, cost: 2, budget: 50 })).toMatchObject({ made: 25, spent: 50, peak: 5 });
});

test("a judgement of unknown price reserves nothing, until the budget is spent", async () => {
  expect(await judge(20, { most: 0, cost: 0, budget: 1 })).toMatchObject({ made: 20 });
  expect(await judge(20, { most: 0, cost: 0, budget: 0 })).toMatchObject({ made: 0 });
});

test("waiting judgements are released when the server stops", async () => {
  const node = newNode();
  const stopping = new AbortController();
  const [first, ...others] = await newRequests(3, { most: 9, budget: 5 });
  expect(await node.enter(first!, stopping.signal)).toBe("go");
  const waiting = others.map((request) => node.enter(request, stopping.signal));
  stopping.abort(new Error("stop"));
  node.made(first!);
  expect(await Promise.all(waiting)).toEqual(["stopped", "stopped"]);
});

test("a failure of the control store rejects the requests that wait, and no later ones", async () => {
  let isDown = true;
  const node = createJudgeBudget(({ judgements }) =>
    isDown
      ? Promise.reject(new Error("the control store is down"))
      : Promise.resolve({ admitted: judgements.map(({ runId }) => runId), isSpent: false }),
  );
  const [first, second] = await newRequests(2, { most: 1, budget: 5 });
  const { signal } = new AbortController();
  await expect(node.enter(first!, signal)).rejects.toThrow("down");
  isDown = false;
  expect(await node.enter(second!, signal)).toBe("go");
});
