import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createJudgeBudget } from "./judge-budget.ts";

/** So many judgements at once of one automation, as a runner makes them: what is spent, how many were made. */
async function judge(count: number, { most, cost, budget }: Record<"most" | "cost" | "budget", number>) {
  let [onRecord, made, underWay, peak] = [0, 0, 0, 0];
  const purse = createJudgeBudget(async () => {
    await sleep(0);
    return onRecord;
  });
  const { signal } = new AbortController();
  await Promise.all(
    Array.from({ length: count }, async (_, runId) => {
      if ((await purse.enter({ automationId: "a", runId, most, budget }, signal)) === "spent") return;
      made += 1;
      peak = Math.max(peak, (underWay += 1));
      await sleep(30);
      underWay -= 1;
      purse.settle(runId, cost);
      await sleep(3);
      onRecord += cost;
      await sleep(0);
      purse.recorded(runId);
    }),
  );
  return { made, onRecord, peak };
}

test("a burst spends no more than the budget and what one judgement costs", async () => {
  expect(await judge(30, { most: 10, cost: 10, budget: 35 })).toMatchObject({ made: 4, onRecord: 40 });
  expect(await judge(30, { most: 160, cost: 9, budget: 30 })).toMatchObject({ made: 4, onRecord: 36, peak: 1 });
});

test("judgements are made side by side as far as they fit, and all of the budget is used", async () => {
  expect(await judge(60, { most: 10, cost: 2, budget: 50 })).toMatchObject({ made: 25, onRecord: 50, peak: 5 });
});

test("a judgement of unknown price sets nothing aside, until the budget is spent", async () => {
  expect(await judge(20, { most: 0, cost: 0, budget: 1 })).toMatchObject({ made: 20 });
  expect(await judge(20, { most: 0, cost: 0, budget: 0 })).toMatchObject({ made: 0 });
});

test("who waits is let go when the server stops", async () => {
  const purse = createJudgeBudget(() => Promise.resolve(0));
  const stopping = new AbortController();
  expect(await purse.enter({ automationId: "a", runId: 1, most: 9, budget: 5 }, stopping.signal)).toBe("go");
  const waiting = [2, 3].map((runId) => purse.enter({ automationId: "a", runId, most: 9, budget: 5 }, stopping.signal));
  stopping.abort(new Error("stop"));
  purse.settle(1, 5);
  expect(await Promise.all(waiting)).toEqual(["stopped", "stopped"]);
});
