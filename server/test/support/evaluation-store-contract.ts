import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Organization } from "../../src/domain/organization.ts";
import { updateEvaluator } from "../../src/api/evaluators/update-evaluator.ts";
import { evaluatorsNamed } from "../../src/evaluation/named-evaluator.ts";
import type { Context } from "../../src/http/endpoint.ts";
import { newScore } from "./score-store-contract.ts";
import { testCrashedRuns } from "./crashed-runs-contract.ts";
import { testEvaluator } from "../../src/evaluation/evaluation.fixture.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { definitionOf } from "../../src/storage/control/evaluator-store.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");
const created_at = new Date(createdAtMs).toISOString();

/** The part of control-store-contract.ts about conditions, evaluators, automations and their runs. */
export function describeEvaluationStores({
  stores,
  newOrganization,
}: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
}) {
  describe("evaluation", () => {
    const newEvaluator = (unique_organization_id: string) =>
      stores().evaluators.create(testEvaluator({ unique_organization_id }));
    const newCondition = (unique_organization_id: string) =>
      stores().conditions.create({
        id: randomUUID(),
        unique_organization_id,
        condition_slug: `condition-${randomUUID()}`,
        name: "All",
        condition_type: "single_log",
        description: "",
        condition_policy: { rules: [{ field: "cost", operator: "greater_than", value: 1 }], connector: "AND" },
        created_at,
        updated_at: created_at,
      });
    const newAutomation = async (unique_organization_id: string) => {
      const [condition, first, second] = [
        await newCondition(unique_organization_id),
        await newEvaluator(unique_organization_id),
        await newEvaluator(unique_organization_id),
      ];
      const automation = await stores().transaction(({ automations }) =>
        automations.create({
          id: randomUUID(),
          unique_organization_id,
          environment: "prod",
          automation_slug: `automation-${randomUUID()}`,
          name: "Judge",
          automation_type: "online_eval",
          condition_id: condition.id,
          evaluator_ids: [second.id, first.id],
          is_enabled: true,
          configuration: { sampling_rate: 0.25 },
          created_at,
          updated_at: created_at,
        }),
      );
      return { automation, condition, evaluators: [first, second] as const };
    };

    test("evaluators that several nodes name at the same time are created once", async () => {
      const { unique_organization_id } = await newOrganization();
      const result = { name: "Tone", value: 0.5, label: undefined, explanation: undefined, error: undefined };
      for (let round = 0; round < 10; round += 1) {
        const wanted = { results: [{ slug: `Tone-${round}`, result }], at: created_at };
        const name = () => stores().transaction((set) => evaluatorsNamed(set, unique_organization_id, wanted));
        const named = await Promise.all([name(), name(), name(), name()]);
        const ids = named.map((evaluators) => evaluators.get(`Tone-${round}`)?.id);
        expect(ids).toEqual([expect.any(String), ids[0], ids[0], ids[0]]);
      }
    });

    test("concurrent changes of different fields of an evaluator are all kept", async () => {
      const { unique_organization_id } = await newOrganization();
      const { id } = await newEvaluator(unique_organization_id);
      const { handler } = updateEvaluator({ stores: stores(), nowMs: () => createdAtMs });
      const principal = { kind: "key", environment: "prod", organization_id: unique_organization_id };
      const params = { evaluator_id: id };
      const changes = [{ name: "New" }, { description: "Told" }, { tags: ["a"] }, { starred: true }];
      await Promise.all(changes.map((body) => handler({ principal, params, body } as Context)));
      expect(await stores().evaluators.find(unique_organization_id, id)).toMatchObject(Object.assign({}, ...changes));
    });

    test("automations have their evaluators in order, and prevent the removal of objects that they use", async () => {
      const { unique_organization_id } = await newOrganization();
      const { automation, condition, evaluators } = await newAutomation(unique_organization_id);
      expect(await stores().automations.find(unique_organization_id, automation.id)).toEqual({
        ...automation,
        evaluator_ids: [evaluators[1].id, evaluators[0].id],
        configuration: { sampling_rate: 0.25 },
      });
      expect(await stores().automations.find(unique_organization_id, automation.automation_slug)).toEqual(automation);
      const active = (await stores().automations.listActive()).find(({ id }) => id === automation.id);
      expect(active).toMatchObject({
        condition_policy: condition.condition_policy,
        evaluator_ids: automation.evaluator_ids,
      });
      expect(await stores().conditions.usedBy(condition.id)).toEqual([{ name: "Judge", environment: "prod" }]);
      expect(await stores().evaluators.usedBy(evaluators[0].id)).toEqual([{ name: "Judge", environment: "prod" }]);
      await expect(stores().conditions.remove(unique_organization_id, condition.id)).rejects.toThrow(/foreign key/i);
      await expect(stores().evaluators.remove(unique_organization_id, evaluators[0].id)).rejects.toThrow(
        /foreign key/i,
      );
      const changed = await stores().transaction(({ automations }) =>
        automations.update(unique_organization_id, automation.id, {
          evaluator_ids: [evaluators[0].id],
          is_enabled: false,
          updated_at: created_at,
        }),
      );
      expect(changed).toEqual({ ...automation, evaluator_ids: [evaluators[0].id], is_enabled: false });
      expect((await stores().automations.listActive()).map(({ id }) => id)).not.toContain(automation.id);
      await stores().automations.remove(unique_organization_id, automation.id);
      await stores().conditions.remove(unique_organization_id, condition.id);
      await stores().evaluators.remove(unique_organization_id, evaluators[0].id);
      expect(await stores().automations.list(unique_organization_id)).toEqual([]);
    });

    test("slugs are unique in an organization, and organizations see only their own objects", async () => {
      const [{ unique_organization_id: one }, { unique_organization_id: other }] = [
        await newOrganization(),
        await newOrganization(),
      ];
      const evaluator = await newEvaluator(one);
      const again = { ...evaluator, id: randomUUID() };
      await expect(stores().evaluators.create(again)).rejects.toMatchObject({ code: "invalid_request" });
      expect(await stores().evaluators.create({ ...again, unique_organization_id: other })).toMatchObject({
        id: again.id,
      });
      expect(await stores().evaluators.find(other, evaluator.id)).toBeUndefined();
      expect(await stores().evaluators.findAll(other, [evaluator.id])).toEqual([]);
      const slugs = [evaluator.evaluator_slug, "no-such-slug"];
      expect(await stores().evaluators.findBySlugs(one, slugs)).toEqual([evaluator]);
      expect(await stores().evaluators.findBySlugs(other, slugs)).toMatchObject([{ id: again.id }]);
      expect([await stores().evaluators.count(one), await stores().evaluators.count(other)]).toEqual([1, 1]);
      const condition = await newCondition(one);
      expect(await stores().conditions.find(other, condition.condition_slug)).toBeUndefined();
      expect(
        await stores().conditions.update(other, condition.id, { name: "x", updated_at: created_at }),
      ).toBeUndefined();
      const [score] = await stores().scores.add([newScore(one)], createdAtMs);
      expect(await stores().scores.find(other, score?.id ?? "")).toBeUndefined();
      expect(await stores().scores.remove(other, score?.id ?? "", createdAtMs)).toBe(false);
      expect(await stores().scores.listOfLogs(other, [score?.log_id ?? ""])).toEqual([]);
    });

    test("a run is created once, claimed by one node, and by another when its lease expires", async () => {
      const { unique_organization_id } = await newOrganization();
      const { automation } = await newAutomation(unique_organization_id);
      const runs = Array.from({ length: 600 }, () => ({
        automation_id: automation.id,
        evaluator_id: automation.evaluator_ids[0] ?? "",
        log_id: randomUUID(),
        unique_organization_id,
        environment: "prod" as const,
        log_timestamp: "2026-03-01 10:00:00.000000000",
      }));
      const at = (seconds: number) => new Date(createdAtMs + seconds * 1_000).toISOString();
      const enqueued = async () => (await stores().evaluationRuns.enqueue(runs, at(0))).get(unique_organization_id);
      expect([await enqueued(), await enqueued()]).toEqual([600, 0]);
      const waiting = async () => (await stores().evaluationRuns.waiting()).get(unique_organization_id);
      expect(await waiting()).toBe(600);
      const claim = (owner: string, seconds: number, limit: number) =>
        stores().evaluationRuns.claim({
          uniqueOrganizationId: unique_organization_id,
          owner,
          now: at(seconds),
          leaseUntil: at(seconds + 60),
          limit,
        });
      const claims = await Promise.all(["a", "b", "c", "d"].map((owner) => claim(owner, 1, 200)));
      const ids = claims.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const [first, second] = claims.find((each) => each.length > 1) ?? [];
      await stores().evaluationRuns.finish([first!.id]);
      await stores().evaluationRuns.retry(second!, at(500));
      await claim("e", 2, 1_000);
      expect(await claim("f", 30, 1_000)).toEqual([]);
      await stores().evaluationRuns.renew("e", at(300));
      expect(await claim("f", 90, 1_000)).toEqual([]);
      await stores().evaluationRuns.recover(at(90));
      const taken = await claim("f", 90, 1_000);
      expect(taken.every((run) => run.attempts === 2)).toBe(true);
      expect(taken.map(({ id }) => id)).not.toContain(first!.id);
      // A late report of a node about a lost claim does not change the next claim.
      const lost = claims.flat().find(({ id }) => id !== first!.id && id !== second!.id)!;
      await stores().evaluationRuns.retry(lost, at(91));
      await stores().evaluationRuns.retry({ id: first!.id, attempts: first!.attempts }, at(91));
      expect(await claim("z", 92, 1_000)).toEqual([]);
      expect((await claim("g", 600, 1_000)).some(({ id }) => id === second!.id)).toBe(true);
      await stores().evaluationRuns.release("g", at(601));
      expect((await claim("h", 602, 1_000)).length).toBeGreaterThan(0);
      await stores().evaluationRuns.release("h", at(603));
      const before = unique_organization_id.slice(0, -1);
      expect(await stores().evaluationRuns.nextOrganization(before)).toBe(unique_organization_id);
      await stores().automations.remove(unique_organization_id, automation.id);
      expect(await stores().evaluationRuns.nextOrganization(before)).not.toBe(unique_organization_id);
    });

    testCrashedRuns({ stores, newOrganization, newAutomation });

    describe("judgements", () => {
      const day = "2026-03-01";
      const at = (seconds: number) => new Date(createdAtMs + seconds * 1_000).toISOString();
      const claim = (uniqueOrganizationId: string, seconds: number) =>
        stores().evaluationRuns.claim({
          uniqueOrganizationId,
          owner: "node",
          now: at(seconds),
          leaseUntil: at(seconds + 60),
          limit: 100,
        });
      /** Runs of one automation, claimed for a minute. */
      const newRuns = async (count: number) => {
        const { unique_organization_id } = await newOrganization();
        const { automation, evaluators } = await newAutomation(unique_organization_id);
        const run = {
          automation_id: automation.id,
          evaluator_id: evaluators[0].id,
          unique_organization_id,
          environment: "prod" as const,
          log_timestamp: "2026-03-01 10:00:00.000000000",
        };
        await stores().evaluationRuns.enqueue(
          Array.from({ length: count }, () => ({ ...run, log_id: randomUUID() })),
          at(0),
        );
        const runs = await claim(unique_organization_id, 0);
        const claims = runs.map(({ id, attempts }) => ({ runId: id, attempt: attempts }));
        return { uniqueOrganizationId: unique_organization_id, automationId: automation.id, claims };
      };
      type Claims = Awaited<ReturnType<typeof newRuns>>["claims"];
      const reserve = (automationId: string, claims: Claims, { most, budget }: { most: number; budget: number }) =>
        stores().transaction(({ judgementLedger }) =>
          judgementLedger.reserve({
            automationId,
            day,
            budget,
            judgements: claims.map((each) => ({ ...each, most })),
          }),
        );
      const settle = (claims: Claims, microUsd: number) =>
        stores().transaction(({ judgementLedger }) =>
          judgementLedger.settle(claims.map((each) => ({ ...each, microUsd }))),
        );
      const chargeLapsed = (seconds: number) =>
        stores().transaction(({ judgementLedger }) => judgementLedger.chargeLapsed(at(seconds)));
      /** Whether a budget of this size would be used up. */
      const isSpentAt = async (automationId: string, budget: number) =>
        (await reserve(automationId, [], { most: 0, budget })).isSpent;

      test("are admitted in order as far as they fit, and one that exceeds the budget runs alone", async () => {
        const { automationId, claims } = await newRuns(5);
        const request = { most: 3_000_000_000, budget: 7_000_000_000 };
        const ids = claims.map(({ runId }) => runId);
        expect(await reserve(automationId, claims, request)).toEqual({ admitted: ids.slice(0, 2), isSpent: false });
        expect(await reserve(automationId, claims.slice(2), request)).toEqual({ admitted: [], isSpent: false });
        await settle(claims.slice(0, 2), 2_000_000_000);
        expect(await reserve(automationId, claims.slice(2), request)).toMatchObject({ admitted: [ids[2]] });
        await settle(claims.slice(2, 3), 2_500_000_000);
        // 500,000,000 are left; the next one reserves all of it.
        expect(await reserve(automationId, claims.slice(3), request)).toMatchObject({ admitted: [ids[3]] });
        await settle(claims.slice(3, 4), 600_000_000);
        expect(await reserve(automationId, claims.slice(4), request)).toEqual({ admitted: [], isSpent: true });
        expect(await isSpentAt(automationId, 7_100_000_000)).toBe(true);
        expect(await isSpentAt(automationId, 7_100_000_001)).toBe(false);
      });

      test("never reserve more than the rest, however many request at once", async () => {
        const { automationId, claims } = await newRuns(40);
        const answers = await Promise.all(
          claims.map((each) => reserve(automationId, [each], { most: 10, budget: 95 })),
        );
        expect(answers.flatMap(({ admitted }) => admitted)).toHaveLength(9);
      });

      test("count once, and on the day of their reservation", async () => {
        const { automationId, claims } = await newRuns(1);
        await reserve(automationId, claims, { most: 10, budget: 100 });
        await Promise.all([settle(claims, 4), settle(claims, 4)]);
        expect([await isSpentAt(automationId, 4), await isSpentAt(automationId, 5)]).toEqual([true, false]);
      });

      test("count in full once their claim expires without a result, and other claims do not", async () => {
        const lapsing = await newRuns(2);
        await reserve(lapsing.automationId, lapsing.claims, { most: 10, budget: 100 });
        await chargeLapsed(59);
        expect(await reserve(lapsing.automationId, [], { most: 0, budget: 20 })).toMatchObject({ isSpent: false });
        await stores().evaluationRuns.recover(at(60));
        const living = await newRuns(1);
        await reserve(living.automationId, living.claims, { most: 10, budget: 100 });
        const suspects = { owner: "node", now: at(90), leaseUntil: at(150), limit: () => 1_000 };
        const again = (await stores().evaluationRuns.claimSuspects(suspects)).filter(
          ({ unique_organization_id }) => unique_organization_id === lapsing.uniqueOrganizationId,
        );
        await stores().evaluationRuns.renew("node", at(300));
        expect(await chargeLapsed(91)).toBeGreaterThanOrEqual(20);
        expect(await isSpentAt(lapsing.automationId, 20)).toBe(true);
        expect(await isSpentAt(lapsing.automationId, 21)).toBe(false);
        expect(await isSpentAt(living.automationId, 10)).toBe(false);
        // The late result of the first claim is counted already; the second claim counts in addition.
        const claims = again.map(({ id, attempts }) => ({ runId: id, attempt: attempts }));
        await reserve(lapsing.automationId, claims, { most: 10, budget: 100 });
        await settle(lapsing.claims, 5);
        await settle(claims, 1);
        expect(await isSpentAt(lapsing.automationId, 22)).toBe(true);
        expect(await isSpentAt(lapsing.automationId, 23)).toBe(false);
      });
    });

    test("versions of evaluators are numbered in order", async () => {
      const { unique_organization_id } = await newOrganization();
      const evaluator = await newEvaluator(unique_organization_id);
      const add = () =>
        stores().transaction(({ evaluators }) =>
          evaluators.addVersion({
            version_id: randomUUID(),
            evaluator_id: evaluator.id,
            version_description: "",
            definition: definitionOf(evaluator),
            created_at,
          }),
        );
      expect([(await add()).version, (await add()).version]).toEqual([1, 2]);
      const [newest] = await stores().evaluators.listVersions(evaluator.id);
      expect(newest).toMatchObject({ version: 2, definition: { llm_config: evaluator.llm_config } });
    });
  });
}
