import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createQueryGate } from "./query-gate.ts";

test("leaves room for queries of another organization, which start immediately and take turns", async () => {
  const outcomes: string[] = [];
  const gate = createQueryGate({ inFlight: 6, queued: 20 }, { onQuery: ({ outcome }) => outcomes.push(outcome) });
  const started: string[] = [];
  const running: (() => void)[] = [];
  const query = (organization_id: string) =>
    gate({ name: "list", sql: "", params: { organization_id } }, undefined, async () => {
      started.push(organization_id);
      await new Promise<void>((resolve) => running.push(resolve));
    });
  const many = Array.from({ length: 40 }, () => query("a"));
  const refused = Promise.allSettled(many);
  const other = [query("b"), query("b")];
  expect(started).toEqual(["a", "a", "a", "a", "a", "b"]);
  for (let ended = 0; ended < 3; ended += 1) {
    running.shift()?.();
    await turn();
  }
  expect(started.slice(6)).toEqual(["a", "b"]);
  for (let end = running.shift(); end !== undefined; end = running.shift()) {
    end();
    await turn();
  }
  await Promise.all(other);
  const reasons = (await refused).flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  expect(reasons).toHaveLength(40 - 5 - 16);
  expect(reasons[0]).toMatchObject({ code: "unavailable", retryAfterS: 1 });
  expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(reasons.length);
});
