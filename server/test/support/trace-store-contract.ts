import { describe, expect, test } from "vitest";
import type { Organization } from "../../src/domain/organization.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { inTwoOrders, manyRows } from "./in-two-orders.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");
const created_at = new Date(createdAtMs).toISOString();
const at = (minute: number): string => new Date(createdAtMs + minute * 60_000).toISOString();

/** The part of control-store-contract.ts about shared, deleted and watched traces. */
export function describeTraceStores({
  stores,
  newOrganization,
}: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
}) {
  describe("shared traces", () => {
    test("are public according to the last change, only for their organization", async () => {
      const { unique_organization_id } = await newOrganization();
      const other = await newOrganization();
      const share = {
        unique_organization_id,
        trace_unique_id: "t",
        environment: "test",
        updated_at: created_at,
      } as const;
      const find = () => stores().traceShares.findPublic(unique_organization_id, "t");
      expect(await find()).toEqual([]);
      await stores().traceShares.set({ ...share, is_public: true });
      expect(await find()).toEqual(["test"]);
      expect(await stores().traceShares.findPublic(other.unique_organization_id, "t")).toEqual([]);
      await stores().traceShares.set({ ...share, environment: "prod", is_public: true });
      expect(await find()).toEqual(["prod", "test"]);
      await stores().traceShares.set({ ...share, is_public: false });
      expect(await find()).toEqual(["prod"]);
    });

    test("end with the deletion of the trace, only in its environment", async () => {
      const { unique_organization_id: organization_id } = await newOrganization();
      const all = { fromNs: -(2n ** 62n), toNs: 2n ** 62n, deletedAtMs: createdAtMs };
      for (const [id, environment] of [
        ["a", "prod"],
        ["b", "test"],
        ["c", "prod"],
      ] as const) {
        const share = { unique_organization_id: organization_id, trace_unique_id: id, environment };
        await stores().traceShares.set({ ...share, is_public: true, updated_at: created_at });
      }
      const deletion = { organization_id, environment: "prod" as const, ...all };
      await stores().traceDeletions.add(["a", "b"].map((trace_unique_id) => ({ ...deletion, trace_unique_id })));
      const left = await Promise.all(["a", "b", "c"].map((id) => stores().traceShares.findPublic(organization_id, id)));
      expect(left).toEqual([[], ["test"], ["prod"]]);
      await stores().traceDeletions.deleteBefore(new Date(createdAtMs + 1).toISOString());
    });
  });

  describe("deleted traces", () => {
    test("are listed by pages from a time on, and removed up to a time", async () => {
      const { unique_organization_id: organization_id } = await newOrganization();
      const deletions = Array.from({ length: 2_500 }, (_, n) => ({
        organization_id,
        environment: "prod" as const,
        trace_unique_id: `trace ${n}`,
        fromNs: -(2n ** 62n),
        toNs: 2n ** 62n,
        // Hundreds have the same millisecond.
        deletedAtMs: createdAtMs + Math.floor(n / 700),
      }));
      await stores().traceDeletions.add(deletions);
      const listed = [];
      let page = await stores().traceDeletions.list(created_at);
      listed.push(...page.deletions);
      while (page.next !== undefined) {
        page = await stores().traceDeletions.list(created_at, page.next);
        listed.push(...page.deletions);
      }
      expect(listed).toEqual(deletions);
      await stores().traceDeletions.deleteBefore(new Date(createdAtMs + 3).toISOString());
      expect((await stores().traceDeletions.list(created_at)).deletions).toEqual(deletions.slice(2_100));
      await stores().traceDeletions.add([]);
    });
  });

  describe("trace watches", () => {
    const watch = (unique_organization_id: string, last_received: string, due: number) => ({
      unique_organization_id,
      environment: "prod" as const,
      trace_unique_id: "t",
      last_received,
      due_at: at(due),
    });
    const claimWatches = (now: number) => stores().traceWatches.claim({ now: at(now), until: at(now + 1), limit: 100 });

    test("exist once per trace, due as set last, with the receipt of the newest span", async () => {
      const { unique_organization_id: organization } = await newOrganization();
      await stores().traceWatches.touch([watch(organization, "2026-01-02", 10)]);
      await stores().traceWatches.touch([watch(organization, "2026-01-01", 12)]);
      await stores().traceWatches.touch([]);
      expect((await stores().traceWatches.waiting()).get(organization)).toBe(1);
      expect(await claimWatches(11)).toEqual([]);
      const claims = await Promise.all([claimWatches(12), claimWatches(12)]);
      expect(claims.flat()).toMatchObject([
        { unique_organization_id: organization, trace_unique_id: "t", last_received: "2026-01-02" },
      ]);
      const [claimed] = claims.flat();
      await stores().traceWatches.touch([watch(organization, "2026-01-03", 14)]);
      await stores().traceWatches.end(claimed!);
      const [again] = await claimWatches(14);
      expect(again).toMatchObject({ id: claimed!.id, last_received: "2026-01-03" });
      await stores().traceWatches.end(again!);
      expect(await claimWatches(60)).toEqual([]);
      expect((await stores().traceWatches.waiting()).get(organization)).toBeUndefined();
    });

    test("watches of the same traces are stored by two nodes in any order", async () => {
      const { unique_organization_id } = await newOrganization();
      const watchOf = (round: number, n: number) => ({
        unique_organization_id,
        environment: "prod" as const,
        trace_unique_id: `trace ${round} ${n}`,
        last_received: "2026-03-01 10:00:00.000000000",
        due_at: "2099-01-01T00:00:00.000Z",
      });
      expect(
        await inTwoOrders(
          (round) => Array.from({ length: manyRows }, (_, n) => watchOf(round, n)),
          (rows) => stores().traceWatches.touch(rows),
        ),
      ).toEqual([]);
      expect((await stores().traceWatches.waiting()).get(unique_organization_id)).toBe(5 * manyRows);
    });
  });
}
