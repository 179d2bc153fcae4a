import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Organization } from "../../src/domain/organization.ts";
import { noValue, type Score } from "../../src/domain/score.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { inTwoOrders, manyRows } from "./in-two-orders.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");
const created_at = new Date(createdAtMs).toISOString();

export const newScore = (unique_organization_id: string, fields: Partial<Score> = {}): Score => ({
  ...noValue,
  numerical_value: 1.5,
  id: randomUUID(),
  unique_organization_id,
  environment: "prod",
  log_id: randomUUID(),
  evaluator_id: randomUUID(),
  evaluator_slug: "judge",
  evaluator_name: "Judge",
  type: "human",
  score_value_type: "numerical",
  is_passed: true,
  explanation: "✓",
  cost: null,
  scorer: null,
  automation_id: null,
  status: "success",
  error_message: null,
  created_at,
  updated_at: created_at,
  ...fields,
});

/** The part of control-store-contract.ts about scores. */
export function describeScoreStore({
  stores,
  newOrganization,
}: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
}) {
  describe("scores", () => {
    const page = { limit: 10, offset: 0 };

    test("a log has one score of an evaluator, also if several are added at once, or by nodes in different orders", async () => {
      const { unique_organization_id } = await newOrganization();
      const first = newScore(unique_organization_id);
      const same = () => ({ ...first, id: randomUUID(), numerical_value: 9 });
      const added = [first, same(), same()].map((score) => stores().scores.add([score], createdAtMs));
      expect((await Promise.all(added)).flat()).toHaveLength(1);
      const more = () => Array.from({ length: manyRows }, () => newScore(unique_organization_id));
      expect(await stores().scores.add([same(), ...more()], createdAtMs)).toHaveLength(manyRows);
      expect((await stores().scores.list(unique_organization_id, { log_id: first.log_id }, page)).count).toBe(1);
      const renamed = (row: Score) => ({ ...row, id: randomUUID() });
      const add = (rows: readonly Score[]) => stores().scores.add(rows.map(renamed), createdAtMs);
      expect(await inTwoOrders(more, add)).toEqual([]);
      await stores().scores.deleteBefore(unique_organization_id, "2027-01-01T00:00:00.000Z");
    });

    test("the last change of each score waits to be copied, and after a deletion a new score can be added", async () => {
      const { unique_organization_id } = await newOrganization();
      const score = newScore(unique_organization_id);
      await stores().scores.add([score], createdAtMs);
      const waiting = async () =>
        (await stores().scores.unreplicated(5_000)).filter((change) => change.log_id === score.log_id);
      const [first] = await waiting();
      expect(first?.score).toEqual(score);
      // A clock that steps back does not make an older state the newer one.
      const changed = await stores().scores.replace({ ...score, numerical_value: 2 }, createdAtMs - 60_000);
      expect(changed).toMatchObject({ numerical_value: 2 });
      await stores().scores.markReplicated([first!], createdAtMs);
      const [second] = await waiting();
      expect(second?.score).toMatchObject({ numerical_value: 2 });
      expect(second!.revision > first!.revision).toBe(true);
      await stores().scores.markReplicated([second!], createdAtMs);
      expect(await waiting()).toEqual([]);
      expect(await stores().scores.remove(unique_organization_id, score.id, createdAtMs + 5)).toBe(true);
      expect(await stores().scores.find(unique_organization_id, score.id)).toBeUndefined();
      const [deleted] = await waiting();
      expect(deleted?.score).toBeUndefined();
      const next = { ...score, id: randomUUID() };
      expect(await stores().scores.add([next], createdAtMs)).toEqual([next]);
      const [third] = await waiting();
      expect(third?.score?.id).toBe(next.id);
      expect(third!.revision).toHaveLength(deleted!.revision.length);
      expect(third!.revision > deleted!.revision).toBe(true);
      expect(await stores().scores.replace(score, createdAtMs)).toBeUndefined();
      // Also once the copy is deleted, on a node whose clock is behind.
      await stores().scores.remove(unique_organization_id, next.id, createdAtMs + 400);
      const [gone] = await waiting();
      await stores().scores.markReplicated([gone!], createdAtMs + 500);
      expect(await waiting()).toEqual([]);
      await stores().scores.add([score], createdAtMs + 100);
      const [last] = await waiting();
      expect(last?.score).toEqual(score);
      expect(last!.revision > gone!.revision).toBe(true);
    });

    test("scores created before a time are deleted, except those of other organizations", async () => {
      const [one, other] = [await newOrganization(), await newOrganization()].map(
        (made) => made.unique_organization_id,
      );
      const at = (created: string, organization = one) => newScore(organization!, { created_at: created });
      const [old, edge, fresh, others] = [
        at("2026-01-31T23:59:59.999Z"),
        at("2026-02-01T00:00:00.000Z"),
        at("2026-02-02T00:00:00.000Z"),
        at("2026-01-01T00:00:00.000Z", other),
      ] as const;
      await stores().scores.add([old, edge, fresh, others], createdAtMs);
      await stores().scores.deleteBefore(one!, "2026-02-01T00:00:00.000Z");
      const left = async (organization: string) =>
        new Set((await stores().scores.list(organization, {}, page)).scores.map(({ id }) => id));
      expect(await left(one!)).toEqual(new Set([edge.id, fresh.id]));
      expect(await left(other!)).toEqual(new Set([others.id]));
      // The log may be scored again.
      const again = { ...old, id: randomUUID(), created_at };
      expect(await stores().scores.add([again], createdAtMs)).toEqual([again]);
    });
  });
}
