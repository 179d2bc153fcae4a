import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Organization } from "../../src/domain/organization.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { inTwoOrders, manyRows } from "./in-two-orders.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");

/** The part of evaluation-store-contract.ts about runs of several nodes. */
export function testCrashedRuns({
  stores,
  newOrganization,
  newAutomation,
}: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
  newAutomation: (organizationId: string) => Promise<{
    automation: { id: string };
    evaluators: readonly [{ id: string }, { id: string }];
  }>;
}) {
  test("the same runs are stored by two nodes in any order", async () => {
    const { unique_organization_id } = await newOrganization();
    const { automation, evaluators } = await newAutomation(unique_organization_id);
    const runOf = (n: number) => ({
      automation_id: automation.id,
      evaluator_id: evaluators[n % 2 === 0 ? 0 : 1].id,
      log_id: randomUUID(),
      unique_organization_id,
      environment: "prod" as const,
      log_timestamp: "2026-03-01 10:00:00.000000000",
    });
    const refusals = await inTwoOrders(
      () => Array.from({ length: manyRows }, (_, n) => runOf(n)),
      (runs) => stores().transaction((set) => set.evaluationRuns.enqueue(runs, new Date(createdAtMs).toISOString())),
    );
    expect(refusals).toEqual([]);
    expect((await stores().evaluationRuns.waiting()).get(unique_organization_id)).toBe(5 * manyRows);
  });

  test("runs whose node died are claimed a few at a time, the ones with the fewest crashes first", async () => {
    const { unique_organization_id } = await newOrganization();
    const { automation, evaluators } = await newAutomation(unique_organization_id);
    const run = {
      automation_id: automation.id,
      evaluator_id: evaluators[0].id,
      unique_organization_id,
      environment: "prod" as const,
      log_timestamp: "2026-03-01 10:00:00.000000000",
    };
    const at = (seconds: number) => new Date(createdAtMs + seconds * 1_000).toISOString();
    const owner = randomUUID();
    const { evaluationRuns: runs } = stores();
    await runs.enqueue(
      [1, 2, 3].map(() => ({ ...run, log_id: randomUUID() })),
      at(0),
    );
    const claim = (seconds: number) =>
      runs.claim({
        uniqueOrganizationId: unique_organization_id,
        owner,
        now: at(seconds),
        leaseUntil: at(seconds + 60),
        limit: 10,
      });
    const suspects = async (seconds: number) => {
      const limit = (crashes: number) => (crashes === 1 ? 2 : 1);
      const claimed = await runs.claimSuspects({ owner, now: at(seconds), leaseUntil: at(seconds + 60), limit });
      return claimed.toSorted((one, other) => one.id - other.id);
    };
    const all = await claim(1);
    expect(all.map(({ crashes }) => crashes)).toEqual([0, 0, 0]);
    // A stop does not count as a crash, nor does the crash of another run.
    await runs.release(owner, at(2));
    expect(await claim(2)).toHaveLength(3);
    await runs.recover(at(3), randomUUID());
    expect(await suspects(3)).toEqual([]);
    await runs.recover(at(3), owner);
    expect(await claim(3)).toEqual([]);
    const [one, other] = await suspects(3);
    expect([one?.crashes, other?.crashes]).toEqual([1, 1]);
    // Their lease expires.
    await runs.recover(at(63));
    const [third, ...none] = await suspects(63);
    expect([third?.crashes, none]).toEqual([1, []]);
    const [alone, ...nobody] = await suspects(63);
    expect([alone?.id, alone?.crashes, nobody]).toEqual([one?.id, 2, []]);
    // Runs that were not tried are unchanged.
    await runs.retry(alone!, at(70), true);
    await runs.finish([third!.id, (await suspects(63))[0]!.id]);
    expect(await suspects(69)).toEqual([]);
    expect(await suspects(70)).toEqual([alone]);
    expect((await runs.waiting()).get(unique_organization_id)).toBe(1);
    await stores().automations.remove(unique_organization_id, automation.id);
  });
}
