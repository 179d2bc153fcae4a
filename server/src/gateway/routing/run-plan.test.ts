import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import { createCoolDown } from "./cool-down.ts";
import type { Plan } from "./plan.ts";
import { attemptOf, virtualTime } from "./run-plan.fixture.ts";
import { runPlan, judge, readRetryPolicy, retryDelayMs, type PlannedModel } from "./run-plan.ts";

type Ending = UpstreamProblem | "success";

const busy = (retryAfterMs?: number): UpstreamProblem => ({
  kind: "busy",
  status: 429,
  message: "slow down",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const fault: UpstreamProblem = { kind: "fault", status: 502, message: "bad gateway" };
const deadKey: UpstreamProblem = { kind: "credential", status: 401, message: "bad key" };
const badRequest: UpstreamProblem = { kind: "request", status: 400, message: "no such role" };
const unknownModel: UpstreamProblem = { kind: "request", status: 404, message: "no such model" };

const planned = (model: string, ...ids: string[]): PlannedModel => ({
  model,
  attempts: ids.map((id) => attemptOf(model, id)),
});

/** Runs a call whose attempts end as given. The last ending repeats. */
async function walk(plannedModels: PlannedModel[], retries: number, endings: Ending[]) {
  const { clock, now, sleep } = virtualTime();
  const coolDown = createCoolDown({ now });
  const deps = { coolDown, now, sleep, random: () => 0 };
  const plan = runPlan(plannedModels, { retries, baseMs: 200 }, deps, new AbortController().signal);
  const tried: string[] = [];
  const waited: number[] = [];
  let problem: UpstreamProblem | undefined;
  for (;;) {
    const step = await plan.next(problem);
    if (step === undefined) return { tried, waited, plan, clock };
    tried.push(step.attempt.credentialId);
    waited.push(step.waitedMs);
    const ending = endings[Math.min(tried.length, endings.length) - 1] ?? "success";
    if (ending === "success") {
      plan.report(step.attempt, "success");
      return { tried, waited, plan, clock };
    }
    problem = ending;
  }
}

describe("what follows a problem", () => {
  test.each<
    [what: string, plannedModels: PlannedModel[], retries: number, endings: Ending[], tried: string[], waited: number[]]
  >([
    ["success at once", [planned("a", "a1")], 2, ["success"], ["a1"], [0]],
    [
      "waits as requested",
      [planned("a", "a1")],
      2,
      [busy(1_000), busy(2_000), "success"],
      ["a1", "a1", "a1"],
      [0, 1_000, 2_000],
    ],
    ["back-off doubles", [planned("a", "a1")], 3, [fault, fault, "success"], ["a1", "a1", "a1"], [0, 100, 200]],
    [
      "retries, then the next model",
      [planned("a", "a1"), planned("b", "b1")],
      1,
      [fault],
      ["a1", "a1", "b1", "b1"],
      [0, 100, 0, 100],
    ],
    [
      "a key that cools down, and another model is ready",
      [planned("a", "a1"), planned("b", "b1")],
      5,
      [fault, fault, fault, "success"],
      ["a1", "a1", "a1", "b1"],
      [0, 100, 200, 0],
    ],
    [
      "a key that cools down, and nothing else",
      [planned("a", "a1")],
      3,
      [fault, fault, fault, "success"],
      ["a1", "a1", "a1", "a1"],
      [0, 100, 200, gatewayLimits.coolDownMs],
    ],
    [
      "P9: an attempt that timed out",
      [planned("a", "a1", "a2"), planned("b", "b1")],
      2,
      [{ ...fault, status: 0, code: "timeout" }],
      ["a1", "b1", "b1", "b1"],
      [0, 0, 100, 200],
    ],
    ["no retries", [planned("a", "a1"), planned("b", "b1")], 0, [fault, "success"], ["a1", "b1"], [0, 0]],
    [
      "too long a wait",
      [planned("a", "a1"), planned("b", "b1")],
      2,
      [busy(3_600_000), "success"],
      ["a1", "b1"],
      [0, 0],
    ],
    ["too long a wait, and no other model", [planned("a", "a1")], 2, [busy(3_600_000)], ["a1"], [0]],
    ["a dead key", [planned("a", "a1", "a2"), planned("b", "b1")], 2, [deadKey, "success"], ["a1", "a2"], [0, 0]],
    [
      "every key dead",
      [planned("a", "a1", "a2"), planned("b", "b1")],
      2,
      [deadKey, deadKey, "success"],
      ["a1", "a2", "b1"],
      [0, 0, 0],
    ],
    [
      "a busy key has a substitute",
      [planned("a", "a1", "a2")],
      3,
      [busy(1_000), busy(500), "success"],
      ["a1", "a2", "a2"],
      [0, 0, 500],
    ],
    [
      "a request that this model refuses",
      [planned("a", "a1", "a2"), planned("b", "b1")],
      2,
      [badRequest, "success"],
      ["a1", "b1"],
      [0, 0],
    ],
    [
      "a model that does not exist",
      [planned("a", "a1", "a2"), planned("b", "b1")],
      2,
      [unknownModel, "success"],
      ["a1", "b1"],
      [0, 0],
    ],
  ])("%s", async (_what, plannedModels, retries, endings, tried, waited) => {
    const walked = await walk(plannedModels, retries, endings);
    expect({ tried: walked.tried, waited: walked.waited }).toEqual({ tried, waited });
  });

  test.each<[what: string, endings: Ending[], told: UpstreamProblem]>([
    ["the first cause", [fault, deadKey, busy()], fault],
    ["the first refusal if every model refuses", [badRequest, unknownModel, badRequest], badRequest],
    ["the outage, when a fallback refuses the request", [fault, badRequest, unknownModel], fault],
    ["the outage, when another model refused the request before", [badRequest, busy(), deadKey], busy()],
  ])("P3: after giving up, the response states %s", async (_what, endings, stated) => {
    const { plan } = await walk([planned("a", "a1"), planned("b", "b1"), planned("c", "c1")], 0, endings);
    expect(plan.problem()).toEqual(stated);
  });

  test("P3: if no time is left, a problem that was not reported to the plan counts as the last", async () => {
    const { plan: afterOutage } = await walk([planned("a", "a1")], 0, [fault]);
    expect([afterOutage.problem(badRequest), afterOutage.problem(deadKey)]).toEqual([fault, fault]);
    const { plan: afterRefusal } = await walk([planned("a", "a1")], 0, [badRequest]);
    expect([afterRefusal.problem(unknownModel), afterRefusal.problem(fault)]).toEqual([badRequest, fault]);
  });

  test("P3: a refusal by the gateway itself neither starts nor ends a cool-down", async () => {
    const { now, sleep } = virtualTime();
    const coolDown = createCoolDown({ now });
    coolDown.report("a1", deadKey);
    const signal = new AbortController().signal;
    const plannedModels = [planned("a", "a1")];
    const plan = runPlan(plannedModels, { retries: 0, baseMs: 200 }, { coolDown, now, sleep, random: () => 0 }, signal);
    await plan.next();
    expect(await plan.next({ ...badRequest, isUnsent: true })).toBeUndefined();
    expect(coolDown.isReady("a1")).toBe(false);
    coolDown.report("a1", "success");
    const other = runPlan(
      plannedModels,
      { retries: 0, baseMs: 200 },
      { coolDown, now, sleep, random: () => 0 },
      signal,
    );
    await other.next();
    await other.next({ ...badRequest, isUnsent: true });
    expect(coolDown.isReady("a1")).toBe(true);
  });
});

test("P9: an attempt leaves each further model its share of the time before the deadline", async () => {
  const { clock, now, sleep } = virtualTime();
  const deps = { coolDown: createCoolDown({ now }), now, sleep, random: () => 0 };
  const plannedModels = [planned("a", "a1"), planned("b", "b1"), planned("c", "c1")];
  const plan = runPlan(plannedModels, { retries: 0, baseMs: 200 }, deps, new AbortController().signal);
  const rooms: number[] = [];
  let problem: UpstreamProblem | undefined;
  for (let step = await plan.next(); step !== undefined; step = await plan.next(problem)) {
    rooms.push(step.roomMs);
    clock.ms += step.roomMs;
    problem = { ...fault, status: 0, code: "timeout" };
    if (step.furtherModels === 0) break;
  }
  expect(rooms).toHaveLength(3);
  expect(rooms[0]).toBeCloseTo(rooms[1] ?? 0, -4);
  expect(rooms[2]).toBe(Infinity);
});

test("at most (retries + 1) × models attempts, each model its share, and none started after the deadline", async () => {
  const waits = fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined });
  const endings = fc.oneof(
    waits.map(busy),
    fc.constantFrom<Ending>(
      fault,
      deadKey,
      unknownModel,
      badRequest,
      { ...fault, status: 0 },
      { ...fault, status: 418 },
    ),
  );
  const shapes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      shapes,
      fc.nat(4),
      fc.array(endings, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 90_000 }),
      async (shape, retries, problems, tookMs) => {
        const { clock, now, sleep } = virtualTime();
        const startMs = clock.ms;
        const plannedModels = shape.map((keys, n) =>
          planned(`m${n}`, ...Array.from({ length: keys }, (_, k) => `m${n}k${k}`)),
        );
        const deps = { coolDown: createCoolDown({ now }), now, sleep, random: () => 0.99 };
        const plan = runPlan(plannedModels, { retries, baseMs: 200 }, deps, new AbortController().signal);
        const perModel = new Map<string, number>();
        let problem: UpstreamProblem | undefined;
        for (let n = 0; ; n += 1) {
          const step = await plan.next(problem);
          if (step === undefined) break;
          expect(now() - startMs).toBeLessThanOrEqual(gatewayLimits.routeDeadlineMs);
          const { model } = step.attempt;
          perModel.set(model, (perModel.get(model) ?? 0) + 1);
          expect(perModel.get(model)).toBeLessThanOrEqual(retries + 1);
          clock.ms += tookMs;
          const ending = problems[n % problems.length];
          if (ending === undefined || ending === "success") break;
          problem = ending;
        }
        const attempts = [...perModel.values()].reduce((sum, count) => sum + count, 0);
        expect(attempts).toBeGreaterThan(0);
        expect(attempts).toBeLessThanOrEqual((retries + 1) * shape.length);
      },
    ),
  );
});

describe("a credential that failed lately", () => {
  const setUp = () => {
    const time = virtualTime();
    const coolDown = createCoolDown({ now: time.now });
    const start = (...plannedModels: PlannedModel[]): Plan =>
      runPlan(
        plannedModels,
        { retries: 1, baseMs: 200 },
        { ...time, coolDown, random: () => 0 },
        new AbortController().signal,
      );
    return { ...time, coolDown, start };
  };

  test("comes after other credentials, and its model after other models", async () => {
    const { coolDown, start } = setUp();
    coolDown.report("a1", deadKey);
    expect((await start(planned("a", "a1", "a2")).next())?.attempt.credentialId).toBe("a2");
    const plan = start(planned("a", "a1"), planned("b", "b1"));
    expect(plan.models).toEqual(["b", "a"]);
    expect((await plan.next())?.attempt.credentialId).toBe("b1");
  });

  test("is tried anyway if there is nothing else, after a short cool-down", async () => {
    const { coolDown, start } = setUp();
    coolDown.report("a1", deadKey);
    expect(await start(planned("a", "a1")).next()).toMatchObject({ attempt: { credentialId: "a1" }, waitedMs: 0 });
    coolDown.report("b1", busy(1_500));
    expect(await start(planned("b", "b1")).next()).toMatchObject({ attempt: { credentialId: "b1" }, waitedMs: 1_500 });
  });

  test("is tried by one of a hundred calls, and all fail with its failure", async () => {
    const { coolDown, start, clock, now } = setUp();
    coolDown.report("a1", busy(1_000));
    clock.ms += 1_000;
    // `sleep` never resolves for calls that wait for the probe.
    const sleep = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const deps = { coolDown, now, sleep, random: () => 0 };
    const plans = Array.from({ length: 100 }, () =>
      runPlan([planned("a", "a1")], { retries: 0, baseMs: 200 }, deps, new AbortController().signal),
    );
    const steps = plans.map(async (plan) => plan.next());
    const first = await steps[0];
    expect(first?.attempt.credentialId).toBe("a1");
    expect(await plans[0]!.next(deadKey)).toBeUndefined();
    const others = await Promise.all(steps.slice(1));
    expect(others.filter((step) => step !== undefined)).toEqual([]);
    expect(plans.map((plan) => plan.problem())).toEqual(plans.map(() => deadKey));
    expect(start(planned("a", "a1")).models).toEqual(["a"]);
  });

  test("serves all waiting calls once the probe succeeds; if the probe is abandoned, the next call tries", async () => {
    const { coolDown, start } = setUp();
    coolDown.report("a1", deadKey);
    const [first, second, third] = [start(planned("a", "a1")), start(planned("a", "a1")), start(planned("a", "a1"))];
    const probe = (await first.next())!;
    const [waiting, alsoWaiting] = [second.next(), third.next()];
    first.report(probe.attempt, "aborted");
    const taken = (await waiting)!;
    second.report(taken.attempt, "success");
    expect((await alsoWaiting)?.attempt.credentialId).toBe("a1");
    expect(coolDown.size()).toBe(0);
  });
});

test("a client that disconnects ends the wait", async () => {
  const { now } = virtualTime();
  const leave = new AbortController();
  const sleep = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  const deps = { coolDown: createCoolDown({ now }), now, sleep, random: () => 0 };
  const plan = runPlan([planned("a", "a1")], { retries: 3, baseMs: 200 }, deps, leave.signal);
  await plan.next();
  const next = plan.next(fault);
  leave.abort(new Error("the client left"));
  await expect(next).rejects.toThrow("the client left");
});

const problem = (kind: UpstreamProblem["kind"], status: number, retryAfterMs?: number): UpstreamProblem => ({
  kind,
  status,
  message: "no",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

describe("the policy", () => {
  test.each([
    [{}, { retries: 2, baseMs: 200 }],
    [{ retries: 0 }, { retries: 0, baseMs: 200 }],
    [{ retries: 5 }, { retries: 5, baseMs: 200 }],
    [{ retry_params: { retry_enabled: true } }, { retries: 3, baseMs: 200 }],
    [{ retry_params: { retry_enabled: false, num_retries: 4 } }, { retries: 0, baseMs: 200 }],
    [
      { retry_params: { retry_enabled: true, num_retries: 4, retry_after: 1.5 }, retries: 9 },
      { retries: 4, baseMs: 1500 },
    ],
  ])("of %j is %j", (params, policy) => {
    expect(readRetryPolicy(params)).toEqual(policy);
  });
});

test.each([
  ["request", 400, "other_model"],
  ["request", 422, "other_model"],
  ["request", 404, "other_model"],
  ["credential", 401, "other_credential"],
  ["credential", 400, "other_credential"],
  ["busy", 429, "retry"],
  ["busy", 529, "retry"],
  ["fault", 0, "retry"],
  ["fault", 200, "retry"],
  ["fault", 500, "retry"],
  ["fault", 302, "other_model"],
  ["fault", 418, "other_model"],
] as const)("%s %i means %s", (kind, status, verdict) => {
  expect(judge(problem(kind, status))).toBe(verdict);
});

describe("the delay", () => {
  const policy = { retries: 3, baseMs: 200 };

  test.each([
    [0, 1_000, 0, 1_000],
    [0, 2_000, 0.5, 2_100],
    [0, 0, 0.9, 0],
    [0, gatewayLimits.retryWaitMs, 0.9, gatewayLimits.retryWaitMs],
    [0, gatewayLimits.retryWaitMs + 1, 0, undefined],
    [0, 3_600_000, 0, undefined],
    // Implausible or negative values are ignored.
    [0, 1e15, 0, 100],
    [0, Number.POSITIVE_INFINITY, 0, 100],
    [0, Number.NaN, 0, 100],
    [0, -1_000, 0, 100],
    [0, undefined, 0, 100],
    [0, undefined, 0.5, 150],
    [3, undefined, 0, 800],
    [99, undefined, 0, gatewayLimits.retryWaitMs / 2],
  ])("before retry %i, with a requested wait of %s ms and a draw of %d, is %s", (n, requestedMs, draw, delayMs) => {
    expect(retryDelayMs(policy, n, problem("busy", 429, requestedMs), () => draw)).toBe(delayMs);
  });

  test("is never below the requested wait and never above the cap", () => {
    const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(1_000), fc.option(fc.double(), { nil: undefined }), draws, (n, requestedMs, draw) => {
        const delayMs = retryDelayMs(policy, n, problem("busy", 429, requestedMs), () => draw) ?? 0;
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(gatewayLimits.retryWaitMs);
        const isFair =
          requestedMs === undefined ||
          !(requestedMs >= 0 && requestedMs <= gatewayLimits.retryWaitMs) ||
          delayMs >= requestedMs;
        expect(isFair).toBe(true);
      }),
    );
  });
});
