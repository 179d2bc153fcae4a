import { afterAll, beforeAll, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { limits } from "../limits.ts";
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

/** A round at that time, in which the turn of some fails. */
async function roundAt(ms: number, failing: readonly string[] = []) {
  const [done, failed]: [string[], string[]] = [[], []];
  let ended = 0;
  await enforceRetention(
    {
      organizations: {
        list: async () =>
          ["a", "b", "c"].map((name) => ({ ...organization, retention_days: 1, unique_organization_id: name })),
      },
      scores: { forgetOlder: async () => undefined },
      auditLog: { forget: async () => undefined },
      leases: stores.leases,
      spans: {
        deleteOlderThan: async (id) => {
          if (failing.includes(id)) throw new Error("too many mutations");
          done.push(id);
        },
      },
      instanceDays: 0,
      onFailure: (_error, id) => failed.push(id),
      onEnd: (nowMs) => (ended = nowMs),
      now: () => ms,
    },
    new AbortController().signal,
  );
  return { done, failed, ended };
}

test("an organization whose turn fails keeps no other from it, and has its turn in the next round; none has two a day", async () => {
  expect(await roundAt(startMs, ["a"])).toEqual({ done: ["b", "c"], failed: ["a"], ended: startMs });
  const next = startMs + limits.retentionEveryMs;
  expect(await roundAt(next)).toEqual({ done: ["a"], failed: [], ended: next });
  expect(await roundAt(startMs + limits.retentionAgainMs - 1)).toMatchObject({ done: [], failed: [] });
  expect(await roundAt(startMs + limits.retentionAgainMs)).toMatchObject({ done: ["b", "c"] });
});
