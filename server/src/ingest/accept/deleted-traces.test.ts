import { expect, test } from "vitest";
import { domainLimits } from "../../domain/limits.ts";
import { createDeletedTraces } from "./deleted-traces.ts";

const deletion = (organization_id: string, trace_unique_id: string, deletedAtMs: number) => ({
  organization_id,
  environment: "prod" as const,
  trace_unique_id,
  fromNs: 0n,
  toNs: 10n,
  deletedAtMs,
});

test("an organization over the limit does not evict deletions of others", () => {
  let nowMs = 1e12;
  const deleted = createDeletedTraces(() => nowMs, 100);
  const covers = (organization_id: string, trace_unique_id: string) =>
    deleted.covers({ organization_id, environment: "prod", trace_unique_id }, 5n);
  deleted.add(deletion("guest", "first", nowMs));
  for (let index = 0; index < 300; index += 1) deleted.add(deletion("hog", `${index}`, nowMs));
  deleted.add(deletion("guest", "last", nowMs));
  expect([covers("guest", "first"), covers("guest", "last")]).toEqual([true, true]);
  expect(["0", "201", "202", "299"].map((id) => covers("hog", id))).toEqual([false, false, true, true]);
  expect(deleted.stats()).toEqual({ traces: 100, evicted: 202 });

  // Expired deletions are dropped first, of any organization.
  nowMs += domainLimits.deletedTraceMs + 1;
  for (let index = 0; index < 100; index += 1) deleted.add(deletion("late", `${index}`, nowMs));
  expect(deleted.stats()).toEqual({ traces: 100, evicted: 202 });
  expect(covers("guest", "first")).toBe(false);
});
