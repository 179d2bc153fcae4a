import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { noValue } from "../domain/score.ts";
import { evaluationLimits } from "./limits.ts";
import type { EvaluationOutcome } from "./evaluate.ts";
import { testEvaluator, testLog } from "./evaluation.fixture.ts";
import { startRunner } from "./runner.ts";

const now = "2026-03-01T10:00:00.000Z";
const score: EvaluationOutcome = {
  ok: true,
  value: { ...noValue, numerical_value: 1 },
  isPassed: null,
  explanation: null,
  costUsd: null,
};

test("two organizations with hanging evaluators leave room for a third", async () => {
  const { stores, close } = await openMemoryControl();
  const logs = new Map<string, ReturnType<typeof testLog>>();
  const busy = Promise.withResolvers<void>();
  const running: string[] = [];
  const runner = await startRunner({
    stores,
    spans: {
      hydrateSpans: (_scope: unknown, keys: ReadonlyArray<{ unique_id: string }>) =>
        Promise.resolve(keys.flatMap(({ unique_id: id }) => logs.get(id) ?? [])),
      findSpan: () => Promise.resolve(undefined),
    },
    activeAutomations: { find: () => undefined },
    evaluate: async ({ unique_organization_id: id }) => {
      running.push(id);
      if (id !== "guest") await busy.promise;
      return score;
    },
    dailyBudgetUsd: 1,
    judgeCostUsd: () => Promise.resolve(null),
    retryDelaysMs: [],
    finished: () => undefined,
    logger: pino({ level: "silent" }),
    owner: "node-a",
    now: Date.now,
  });
  const enqueue = async (unique_organization_id: string, count: number): Promise<void> => {
    const of = { unique_organization_id, created_at: now };
    await stores.organizations.create({ ...of, name: unique_organization_id, retention_days: null });
    const code = { type: "code", llm_config: null, code_config: { eval_code_snippet: "" } } as const;
    const evaluator = await stores.evaluators.create(testEvaluator({ unique_organization_id, ...code }));
    const condition = await stores.conditions.create({
      ...of,
      id: randomUUID(),
      condition_slug: "all",
      name: "All",
      condition_type: "single_log",
      description: "",
      condition_policy: { rules: [] },
      updated_at: now,
    });
    const automation = await stores.automations.create({
      ...of,
      id: randomUUID(),
      environment: "prod",
      automation_slug: "judge",
      name: "Judge",
      automation_type: "online_eval",
      condition_id: condition.id,
      evaluator_ids: [evaluator.id],
      is_enabled: true,
      configuration: { sampling_rate: 1 },
      updated_at: now,
    });
    const runs = Array.from({ length: count }, () => {
      const log = testLog();
      logs.set(log.unique_id, log);
      return {
        automation_id: automation.id,
        evaluator_id: evaluator.id,
        log_id: log.unique_id,
        unique_organization_id,
        environment: "prod" as const,
        log_timestamp: log.timestamp,
      };
    });
    await stores.evaluationRuns.enqueue(runs, new Date().toISOString());
    runner.wake(count);
  };
  try {
    for (const hog of ["hog 1", "hog 2"]) await enqueue(hog, evaluationLimits.evaluationRunsInFlight);
    await vi.waitFor(() => expect(new Set(running)).toEqual(new Set(["hog 1", "hog 2"])), 10_000);
    // Waits until each has its maximum: under load, the runner claims in small steps.
    await sleep(2.5 * evaluationLimits.evaluationYieldMs);
    await enqueue("guest", 20);
    await vi.waitFor(() => expect(running.filter((id) => id === "guest")).toHaveLength(20), 10_000);
  } finally {
    busy.resolve();
    await runner.stop();
    await close();
  }
}, 60_000);
