import { afterAll, beforeAll, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { jobsLimits } from "./limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { enforceRetention } from "./retention.ts";

let stores: ControlStores;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ stores, close } = await openMemoryControl());
});
afterAll(() => close());

const startMs = Date.parse("2026-03-01T10:00:00.000Z");
const organization = { id: 1, name: "", created_at: "", blocked_at: null, test_uses_prod_providers: false };

/** Runs a round at the given time, in which some steps fail. */
async function roundAt(ms: number, failing: readonly string[] = []) {
  const failed: Array<string | undefined> = [];
  const forgotten: string[] = [];
  let cutoffs: Record<string, number> | undefined;
  let ended = 0;
  const days: Record<string, number | null> = { a: 1, b: null, c: 0, d: 30 };
  await enforceRetention(
    {
      organizations: {
        list: async () =>
          Object.entries(days).map(([name, retention_days]) => ({
            ...organization,
            retention_days,
            unique_organization_id: name,
          })),
      },
      scores: {
        deleteBefore: async (id) => {
          if (failing.includes(id)) throw new Error("no connection");
          forgotten.push(id);
        },
      },
      auditLog: { deleteBefore: async () => undefined },
      leases: stores.leases,
      spans: {
        deleteExpired: async (given) => {
          if (failing.includes("spans")) throw new Error("too many mutations");
          cutoffs = Object.fromEntries([...given].map(([id, ns]) => [id, (ms - Number(ns / 1_000_000n)) / dayMs]));
          return { rows: 0, months: 0, overdueMs: 0 };
        },
      },
      instanceDays: 7,
      onFailure: (_error, id) => failed.push(id),
      onDeleted: () => undefined,
      onEnd: (nowMs) => (ended = nowMs),
      now: () => ms,
    },
    new AbortController().signal,
  );
  return { cutoffs, forgotten, failed, ended };
}

const dayMs = 86_400_000;
/** Days of retention; `c` keeps everything. */
const all = { a: 1, b: 7, d: 30 };

test("spans of all organizations are purged once a day, and again an hour after a failure", async () => {
  expect(await roundAt(startMs, ["spans"])).toMatchObject({ cutoffs: undefined, failed: [undefined], ended: startMs });
  const next = startMs + jobsLimits.retentionEveryMs;
  expect(await roundAt(next)).toMatchObject({ cutoffs: all, failed: [], ended: next });
  expect(await roundAt(next + jobsLimits.retentionAgainMs - 1)).toMatchObject({ cutoffs: undefined, failed: [] });
  expect(await roundAt(next + jobsLimits.retentionAgainMs)).toMatchObject({ cutoffs: all });
});

test("a failing organization does not stop the others or the round over spans", async () => {
  const later = startMs + 10 * jobsLimits.retentionAgainMs;
  expect(await roundAt(later, ["a"])).toEqual({ cutoffs: all, forgotten: ["b", "d"], failed: ["a"], ended: later });
});
