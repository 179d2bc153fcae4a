import { describe, expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import { createCoolDown } from "./cool-down.ts";
import { virtualTime } from "./run-plan.fixture.ts";

const problem = (kind: UpstreamProblem["kind"], retryAfterMs?: number): UpstreamProblem => ({
  kind,
  status: 500,
  message: "no",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

describe("how long a credential cools down", () => {
  test.each<[string, UpstreamProblem[], number]>([
    ["an invalid key", [problem("credential")], gatewayLimits.deadCredentialMs],
    ["a Retry-After", [problem("busy", 5_000)], 5_000],
    ["a Retry-After of hours", [problem("busy", 3_600_000)], gatewayLimits.coolDownMaxMs],
    ["a failure", [problem("fault")], 0],
    ["two in a row", [problem("fault"), problem("busy")], 0],
    ["three in a row", [problem("fault"), problem("busy"), problem("fault")], gatewayLimits.coolDownMs],
    ["five in a row", Array.from({ length: 5 }, () => problem("fault")), gatewayLimits.coolDownMs * 4],
    ["a hundred in a row", Array.from({ length: 100 }, () => problem("fault")), gatewayLimits.coolDownMaxMs],
    ["an invalid request", [problem("credential"), problem("request")], 0],
  ])("%s", (_what, problems, coolDownMs) => {
    const { now } = virtualTime();
    const coolDown = createCoolDown({ now });
    for (const each of problems) coolDown.report("id", each);
    expect(coolDown.remainingMs("id")).toBe(coolDownMs);
    expect(coolDown.isReady("id")).toBe(coolDownMs === 0);
  });

  test("P19: a response that begins ends it, and one that breaks off counts as a further failure", () => {
    const { now } = virtualTime();
    const coolDown = createCoolDown({ now });
    for (let n = 0; n < gatewayLimits.failuresBeforeCoolDown; n += 1) {
      expect(coolDown.isReady("id")).toBe(true);
      coolDown.report("id", "started");
      coolDown.report("id", problem("fault"));
    }
    expect(coolDown.remainingMs("id")).toBe(gatewayLimits.coolDownMs);
    coolDown.report("id", "started");
    expect(coolDown.isReady("id")).toBe(true);
    coolDown.report("id", problem("fault"));
    expect(coolDown.remainingMs("id")).toBe(2 * gatewayLimits.coolDownMs);
  });

  test("success ends it", () => {
    const { now } = virtualTime();
    const coolDown = createCoolDown({ now });
    coolDown.report("id", problem("credential"));
    coolDown.report("id", "success");
    expect(coolDown.remainingMs("id")).toBe(0);
    expect(coolDown.size()).toBe(0);
  });

  test("other credentials are not affected", () => {
    const { now } = virtualTime();
    const coolDown = createCoolDown({ now });
    coolDown.report("id", problem("credential"));
    expect(coolDown.isReady("other")).toBe(true);
    expect(coolDown.enter("other")).toBe("go");
  });
});

describe("the probe", () => {
  test("is one call at a time, until its time limit", async () => {
    const { clock, now } = virtualTime();
    const coolDown = createCoolDown({ now });
    coolDown.report("id", problem("credential"));
    clock.ms += gatewayLimits.deadCredentialMs;
    expect(coolDown.isReady("id")).toBe(true);
    expect(coolDown.enter("id")).toBe("go");
    expect(coolDown.isReady("id")).toBe(false);
    const waiting = coolDown.enter("id");
    expect(waiting).toBeInstanceOf(Promise);
    clock.ms += gatewayLimits.probeMs;
    expect(coolDown.enter("id")).toBe("go");
    expect(await waiting).toBeUndefined();
  });
});

test("the number of credentials is bounded, and a call that waits for a dropped one continues", async () => {
  const { now } = virtualTime();
  let dropped = 0;
  const coolDown = createCoolDown({ now, onDropped: () => (dropped += 1) });
  coolDown.report("first", problem("credential"));
  expect(coolDown.enter("first")).toBe("go");
  const waiting = coolDown.enter("first");
  for (let n = 0; n < gatewayLimits.coolingCredentials; n += 1) coolDown.report(`id ${n}`, problem("fault"));
  expect(coolDown.size()).toBe(gatewayLimits.coolingCredentials);
  expect(dropped).toBe(1);
  expect(await waiting).toBeUndefined();
  expect(coolDown.isReady("first")).toBe(true);
});
