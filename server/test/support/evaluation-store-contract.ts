import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Organization } from "../../src/domain/organization.ts";
import { noValue, type Score } from "../../src/domain/score.ts";
import { testEvaluator } from "../../src/evaluation/evaluation.fixture.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { definitionOf } from "../../src/storage/control/evaluator-store.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");
const created_at = new Date(createdAtMs).toISOString();

/** The part of control-store-contract.ts about conditions, evaluators, automations, their runs and scores. */
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
    const newScore = (unique_organization_id: string, fields: Partial<Score> = {}): Score => ({
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
    const page = { limit: 10, offset: 0 };

    test("automations come back with their evaluators in order, and hold what they refer to", async () => {
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
      expect(await stores().conditions.usedBy(condition.id)).toEqual(["Judge"]);
      expect(await stores().evaluators.usedBy(evaluators[0].id)).toEqual(["Judge"]);
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

    test("slugs are unique in an organization, and nothing is another's", async () => {
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

    test("a log has one score of an evaluator, also when many are added at once", async () => {
      const { unique_organization_id } = await newOrganization();
      const first = newScore(unique_organization_id);
      const same = () => ({ ...first, id: randomUUID(), numerical_value: 9 });
      const added = await Promise.all(
        [first, same(), same()].map((score) => stores().scores.add([score], createdAtMs)),
      );
      expect(added.flat()).toHaveLength(1);
      const others = Array.from({ length: 1_100 }, () => newScore(unique_organization_id));
      expect(await stores().scores.add([same(), ...others], createdAtMs)).toHaveLength(1_100);
      expect((await stores().scores.list(unique_organization_id, { log_id: first.log_id }, page)).count).toBe(1);
    });

    test("changes of scores wait to be copied, the last of each, and a deleted one makes room", async () => {
      const { unique_organization_id } = await newOrganization();
      const score = newScore(unique_organization_id);
      await stores().scores.add([score], createdAtMs);
      const waiting = async () =>
        (await stores().scores.unmirrored(5_000)).filter((change) => change.log_id === score.log_id);
      const [first] = await waiting();
      expect(first?.score).toEqual(score);
      // A clock that steps back does not make an older state the newer one.
      const changed = await stores().scores.replace({ ...score, numerical_value: 2 }, createdAtMs - 60_000);
      expect(changed).toMatchObject({ numerical_value: 2 });
      await stores().scores.markMirrored([first!]);
      const [second] = await waiting();
      expect(second?.score).toMatchObject({ numerical_value: 2 });
      expect(second!.revision > first!.revision).toBe(true);
      await stores().scores.markMirrored([second!]);
      expect(await waiting()).toEqual([]);
      expect(await stores().scores.remove(unique_organization_id, score.id, createdAtMs + 5)).toBe(true);
      expect(await stores().scores.find(unique_organization_id, score.id)).toBeUndefined();
      expect((await waiting())[0]?.score).toBeUndefined();
      const next = { ...score, id: randomUUID() };
      expect(await stores().scores.add([next], createdAtMs + 10)).toEqual([next]);
      expect((await waiting()).map((change) => change.score?.id)).toEqual([next.id]);
      expect(await stores().scores.replace(score, createdAtMs)).toBeUndefined();
    });

    test("scores made before a time are forgotten, those of other organizations are not", async () => {
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
      await stores().scores.forgetOlder(one!, "2026-02-01T00:00:00.000Z");
      const left = async (organization: string) =>
        new Set((await stores().scores.list(organization, {}, page)).scores.map(({ id }) => id));
      expect(await left(one!)).toEqual(new Set([edge.id, fresh.id]));
      expect(await left(other!)).toEqual(new Set([others.id]));
      // The log may be scored anew.
      const again = { ...old, id: randomUUID(), created_at };
      expect(await stores().scores.add([again], createdAtMs)).toEqual([again]);
    });

    test("a run is made once, claimed by one, and taken over when its lease ends", async () => {
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
      await stores().evaluationRuns.retry(second!.id, at(500));
      await claim("e", 2, 1_000);
      expect(await claim("f", 30, 1_000)).toEqual([]);
      await stores().evaluationRuns.renew("e", at(300));
      const taken = await claim("f", 90, 1_000);
      expect(taken.every((run) => run.attempts === 2)).toBe(true);
      expect(taken.map(({ id }) => id)).not.toContain(first!.id);
      expect((await claim("g", 600, 1_000)).some(({ id }) => id === second!.id)).toBe(true);
      await stores().evaluationRuns.release("g", at(601));
      expect((await claim("h", 602, 1_000)).length).toBeGreaterThan(0);
      const before = unique_organization_id.slice(0, -1);
      expect(await stores().evaluationRuns.nextOrganization(before)).toBe(unique_organization_id);
      await stores().automations.remove(unique_organization_id, automation.id);
      expect(await stores().evaluationRuns.nextOrganization(before)).not.toBe(unique_organization_id);
    });

    test("what judges cost adds up by day", async () => {
      const { unique_organization_id } = await newOrganization();
      const { automation } = await newAutomation(unique_organization_id);
      const { evaluationRuns } = stores();
      expect(await evaluationRuns.spent(automation.id, "2026-03-01")).toBe(0);
      await Promise.all(
        Array.from({ length: 5 }, () => evaluationRuns.addSpent(automation.id, "2026-03-01", 3_000_000_000)),
      );
      await evaluationRuns.addSpent(automation.id, "2026-03-02", 1);
      expect(await evaluationRuns.spent(automation.id, "2026-03-01")).toBe(15_000_000_000);
      expect(await evaluationRuns.spent(automation.id, "2026-03-02")).toBe(1);
    });

    test("versions of evaluators count up", async () => {
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
