import { describe, expect, test } from "vitest";
import type { Organization } from "../../src/domain/organization.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import type { DeliveryOutcome } from "../../src/storage/control/delivery-store.ts";
import type { NewWebhook } from "../../src/storage/control/webhook-store.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString();

/** The part of control-store-contract.ts about webhooks and their queue. */
export function describeWebhookStores(driver: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
}) {
  const newOrganization = async (): Promise<string> => (await driver.newOrganization()).unique_organization_id;
  const newWebhook = (unique_organization_id: string, fields: Partial<NewWebhook> = {}) =>
    driver.stores().webhooks.create({
      unique_organization_id,
      environment: "prod",
      organization_key: null,
      name: "Hook",
      url: "https://example.com/",
      event_type: "request_log",
      active: true,
      legacy_signatures: false,
      secret: "sealed",
      created_at: at(0),
      ...fields,
    });
  const queue = async (
    organization: string,
    webhooks: number | readonly number[],
    ids: readonly string[],
    minute = 0,
    trace_unique_id?: string,
  ): Promise<void> =>
    driver.stores().transaction(({ deliveries }) =>
      deliveries.add(
        [webhooks].flat().flatMap((webhook_id) =>
          ids.map((event_id) => ({
            webhook_id,
            unique_organization_id: organization,
            environment: "prod",
            event_id,
            event_type: "request_log",
            payload: `{"id": "${event_id}"}`,
            trace_unique_id: trace_unique_id ?? null,
            created_at: at(minute),
            expires_at: at(minute + 24 * 60),
          })),
        ),
      ),
    );
  const claim = (webhookId: number, now: number, limit = 100) =>
    driver.stores().deliveries.claim(webhookId, { now: at(now), until: at(now + 1), limit });
  const logOf = async (organization: string, webhookId: number) =>
    (await driver.stores().deliveries.list(organization, webhookId, { page: 1, pageSize: 100 })).rows;
  const outcome = (fields: Pick<DeliveryOutcome, "id"> & Partial<DeliveryOutcome>): DeliveryOutcome => ({
    attempts: 0,
    status: "delivered",
    isAttempt: true,
    next_attempt_at: null,
    last_attempt_at: at(5),
    response_status: 200,
    response_body: "ok",
    error: null,
    ...fields,
  });

  describe("webhooks", () => {
    test("are stored unchanged, and updated by field, only for their organization", async () => {
      const [mine, theirs] = [await newOrganization(), await newOrganization()];
      const made = await newWebhook(mine, { environment: null });
      await newWebhook(theirs);
      expect(await driver.stores().webhooks.find(mine, made.id)).toEqual(made);
      expect(await driver.stores().webhooks.list(mine)).toEqual([made]);
      expect(await driver.stores().webhooks.find(theirs, made.id)).toBeUndefined();
      expect(await driver.stores().webhooks.update(theirs, made.id, { active: false }, at(1))).toBeUndefined();
      expect(await driver.stores().webhooks.delete(theirs, made.id)).toBe(false);
      const changed = await driver.stores().webhooks.update(mine, made.id, { name: "N", active: false }, at(1));
      expect(changed).toEqual({ ...made, name: "N", active: false, updated_at: at(1) });
      expect((await driver.stores().webhooks.listActive()).map(({ id }) => id)).not.toContain(made.id);
    });

    test("are limited in number per organization, beyond that a conflict", async () => {
      const organization = await newOrganization();
      for (let i = 0; i < storageLimits.webhooksPerOrganization; i += 1)
        await newWebhook(organization, { active: false });
      await expect(newWebhook(organization)).rejects.toMatchObject({ code: "conflict" });
      await newWebhook(await newOrganization(), { active: false });
    });

    test("keep every secret that a rotation returned, also if two rotate at the same moment", async () => {
      const organization = await newOrganization();
      const { id } = await newWebhook(organization);
      const rotate = (secret: string) =>
        driver.stores().webhooks.rotate(organization, id, { secret, previousUntil: at(9), now: at(1) });
      await Promise.all([rotate("one"), rotate("two")]);
      const { secret, previous_secret, previous_secret_until } = (await driver
        .stores()
        .webhooks.find(organization, id))!;
      expect(new Set([secret, previous_secret])).toEqual(new Set(["one", "two"]));
      expect(previous_secret_until).toBe(at(9));
      const another = await newOrganization();
      expect(
        await driver.stores().webhooks.rotate(another, id, { secret: "x", previousUntil: at(9), now: at(2) }),
      ).toBeUndefined();
    });

    test("store since when they fail, until a success, and are disabled once", async () => {
      const organization = await newOrganization();
      const { id } = await newWebhook(organization);
      expect(await driver.stores().webhooks.noteFailure(id, at(1))).toBe(at(1));
      expect(await driver.stores().webhooks.noteFailure(id, at(2))).toBe(at(1));
      await driver.stores().webhooks.noteSuccess(id);
      expect(await driver.stores().webhooks.noteFailure(id, at(3))).toBe(at(3));
      const read = await driver.stores().webhooks.find(organization, id);
      expect(await driver.stores().webhooks.disable(read!, "first", at(4))).toBe(true);
      expect(await driver.stores().webhooks.disable({ id, updated_at: at(4) }, "second", at(5))).toBe(false);
      await driver.stores().webhooks.noteSkipped(id, 2);
      await driver.stores().webhooks.noteSkipped(id, 3);
      expect(await driver.stores().webhooks.find(organization, id)).toMatchObject({
        active: false,
        disabled_reason: "first",
        disabled_at: at(4),
        failing_since: at(3),
        skipped_events: 5,
      });
      expect(await driver.stores().webhooks.noteFailure(0, at(1))).toBeUndefined();
    });

    test("reset their failure state when they are enabled or get another URL, also if a node disabled them meanwhile", async () => {
      const organization = await newOrganization();
      const { webhooks } = driver.stores();
      const read = await newWebhook(organization);
      const change = (changes: object, minute: number) => webhooks.update(organization, read.id, changes, at(minute));
      await webhooks.noteFailure(read.id, at(1));
      const url = "https://example.com/";
      expect(await change({ active: true, url }, 2)).toMatchObject({ failing_since: at(1) });
      // A node that read it before does not know its new state.
      expect(await webhooks.disable(read, "late", at(3))).toBe(false);
      expect(await webhooks.disable({ ...read, updated_at: at(2) }, "in time", at(4))).toBe(true);
      expect(await change({ name: "Other" }, 5)).toMatchObject({ active: false, disabled_reason: "in time" });
      const anew = { active: true, failing_since: null, disabled_at: null, disabled_reason: null };
      expect(await change({ active: true }, 6)).toMatchObject(anew);
      await webhooks.noteFailure(read.id, at(7));
      expect(await change({ url: "https://example.org/" }, 8)).toMatchObject(anew);
    });
  });

  describe("deliveries", () => {
    test("exist once per event and webhook, also if nodes add them at the same moment", async () => {
      const organization = await newOrganization();
      const [one, two] = [await newWebhook(organization), await newWebhook(organization)];
      const ids = Array.from({ length: 50 }, (_, i) => `e${i}`);
      await Promise.all([one.id, one.id, two.id].map((id) => queue(organization, id, ids)));
      await queue(organization, one.id, ["e0", "e0", "e50"]);
      expect(await logOf(organization, one.id)).toHaveLength(51);
      expect(await logOf(organization, two.id)).toHaveLength(50);
      await driver.stores().deliveries.add([]);
    });

    test("are added for other webhooks if one was deleted meanwhile", async () => {
      const organization = await newOrganization();
      const [deleted, left] = [await newWebhook(organization), await newWebhook(organization)];
      await driver.stores().webhooks.delete(organization, deleted.id);
      await queue(organization, [deleted.id, left.id], ["a"]);
      expect(await logOf(organization, left.id)).toHaveLength(1);
    });

    test("of a deleted trace lose their payloads, and stay in the log", async () => {
      const [organization, theirs] = [await newOrganization(), await newOrganization()];
      const [hook, foreign] = [await newWebhook(organization), await newWebhook(theirs)];
      await queue(organization, hook.id, ["sent", "waits"], 0, "t1");
      await queue(organization, hook.id, ["other"], 0, "t2");
      await queue(organization, hook.id, ["none"]);
      await queue(theirs, foreign.id, ["theirs"], 0, "t1");
      const { deliveries } = driver.stores();
      const rows = await logOf(organization, hook.id);
      const sent = rows.find(({ event_id }) => event_id === "sent");
      await deliveries.finish([outcome({ id: sent?.id ?? 0, status: "delivered" })]);
      const query = { organizationId: organization, environment: "prod", traceIds: ["t1", "t3"] };
      const [first] = await deliveries.listOfTraces({ ...query, after: 0, limit: 1 });
      const rest = await deliveries.listOfTraces({ ...query, after: first?.delivery_id ?? 0, limit: 10 });
      const found = [first, ...rest];
      expect(found.map((each) => [each?.payload, each?.trace_unique_id, each?.event_type])).toEqual([
        ['{"id": "sent"}', "t1", "request_log"],
        ['{"id": "waits"}', "t1", "request_log"],
      ]);
      await deliveries.dropPayloads(
        found.map((each) => each?.delivery_id ?? 0),
        "gone",
      );
      expect(await deliveries.listOfTraces({ ...query, after: 0, limit: 10 })).toEqual([]);
      expect((await claim(hook.id, 1)).map(({ event_id }) => event_id).toSorted()).toEqual(["none", "other"]);
      const log = new Map((await logOf(organization, hook.id)).map((row) => [row.event_id, row]));
      expect(log.get("sent")).toMatchObject({ status: "delivered", error: null, response_body: null });
      expect(log.get("waits")).toMatchObject({ status: "failed", error: "gone", next_attempt_at: null });
      const times = { now: at(6), expiresAt: at(7) };
      expect(await deliveries.redeliver(organization, hook.id, "sent", times)).toBeUndefined();
      expect(await claim(foreign.id, 1)).toHaveLength(1);
    });

    test("lose their payloads some time after they were delivered, or if newer payloads use all allowed bytes", async () => {
      const organization = await newOrganization();
      const hook = await newWebhook(organization);
      const { deliveries } = driver.stores();
      await queue(organization, hook.id, ["a", "b", "c", "d", "e"]);
      const ids = new Map((await logOf(organization, hook.id)).map(({ event_id, id }) => [event_id, id]));
      const finished = (event: string, fields: Partial<DeliveryOutcome> = {}) =>
        outcome({ id: ids.get(event) ?? 0, ...fields });
      await deliveries.finish([
        finished("a", { last_attempt_at: at(1) }),
        finished("b", { status: "failed", last_attempt_at: at(1) }),
        finished("c"),
        finished("d"),
      ]);
      while ((await deliveries.dropDelivered(at(2), 1)) > 0);
      const isRetained = async (event: string) => {
        const times = { now: at(6), expiresAt: at(7) };
        const row = await deliveries.redeliver(organization, hook.id, event, times);
        if (row === undefined) return false;
        await deliveries.finish([finished(event)]);
        return true;
      };
      const retained = async () => {
        const found: string[] = [];
        for (const event of ["a", "b", "c", "d"]) if (await isRetained(event)) found.push(event);
        return found;
      };
      expect(await retained()).toEqual(["b", "c", "d"]);
      const bytes = '{"id": "a"}'.length;
      expect(await deliveries.trimPayloads(hook.id, 2 * bytes, 10)).toBe(1);
      expect(await deliveries.trimPayloads(hook.id, 2 * bytes, 10)).toBe(0);
      expect(await retained()).toEqual(["c", "d"]);
      // Pending deliveries are not counted.
      expect((await claim(hook.id, 9)).map(({ event_id }) => event_id)).toEqual(["e"]);
    });

    test("are claimed once, longest due first, however many nodes claim at the same time", async () => {
      const organization = await newOrganization();
      const { id } = await newWebhook(organization);
      await queue(organization, id, ["late"], 2);
      await queue(organization, id, ["early"], 1);
      await queue(organization, id, ["future"], 9);
      expect((await claim(id, 3, 1)).map(({ event_id, payload }) => [event_id, payload])).toEqual([
        ["early", '{"id": "early"}'],
      ]);
      expect((await claim(id, 3)).map(({ event_id }) => event_id)).toEqual(["late"]);
      expect(await claim(id, 3)).toEqual([]);
      // The claims have expired.
      expect((await claim(id, 4)).map(({ event_id }) => event_id).toSorted()).toEqual(["early", "late"]);

      const many = await newWebhook(organization);
      const ids = Array.from({ length: 100 }, (_, i) => `m${i}`);
      await queue(organization, many.id, ids);
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim(many.id, 1, 40)));
      const claimed = claims.flat().map(({ event_id }) => event_id);
      expect(new Set(claimed).size).toBe(claimed.length);
      const rest = (await claim(many.id, 1)).map(({ event_id }) => event_id);
      expect([...claimed, ...rest].toSorted()).toEqual(ids.toSorted());
    });

    test("end with the given outcome, many in one statement, and only for the owner of the claim", async () => {
      const organization = await newOrganization();
      const { id } = await newWebhook(organization);
      await queue(organization, id, ["a", "b", "c", "d"]);
      const claimed = await claim(id, 1);
      const idOf = (event: string): number => claimed.find(({ event_id }) => event_id === event)?.id ?? 0;
      const error = 'Zoë said "no"';
      const retry = { status: "pending" as const, next_attempt_at: at(9), response_status: null, response_body: null };
      await driver
        .stores()
        .deliveries.finish([
          outcome({ id: idOf("a") }),
          outcome({ id: idOf("b"), ...retry, error }),
          outcome({ id: idOf("c"), ...retry, isAttempt: false }),
          outcome({ id: idOf("d"), attempts: 7, status: "failed" }),
          outcome({ id: 2_000_000_000 }),
        ]);
      await driver.stores().deliveries.finish([]);
      expect(await logOf(organization, id)).toMatchObject([
        { event_id: "d", status: "pending", attempts: 0, next_attempt_at: at(2) },
        { event_id: "c", status: "pending", attempts: 0, next_attempt_at: at(9), error: null },
        { event_id: "b", status: "pending", attempts: 1, next_attempt_at: at(9), error, response_status: null },
        { event_id: "a", status: "delivered", attempts: 1, next_attempt_at: null, response_body: "ok" },
      ]);
      // A finished delivery stays finished, also for a late outcome.
      await driver.stores().deliveries.finish([outcome({ id: idOf("a"), attempts: 1, ...retry })]);
      expect((await logOf(organization, id)).at(-1)).toMatchObject({ status: "delivered" });
    });

    test("list the webhooks with due events, and how many each has", async () => {
      const organization = await newOrganization();
      const hooks = [await newWebhook(organization), await newWebhook(organization), await newWebhook(organization)];
      const [one, two, none] = hooks.map(({ id }) => id) as [number, number, number];
      await queue(organization, one, ["a", "b"], 4);
      await queue(organization, one, ["c"], 3);
      await queue(organization, two, ["d"], 5);
      await queue(organization, none, ["e"]);
      await driver.stores().deliveries.finish((await claim(none, 1)).map(({ id }) => outcome({ id })));
      const place = ({ webhook_id }: { webhook_id: number }) => [one, two, none].indexOf(webhook_id);
      const ours = <T extends { webhook_id: number }>(rows: T[]) =>
        rows.filter((row) => place(row) >= 0).toSorted((a, b) => place(a) - place(b));
      expect(ours(await driver.stores().deliveries.queues())).toEqual([
        { webhook_id: one, next_attempt_at: at(3) },
        { webhook_id: two, next_attempt_at: at(5) },
      ]);
      expect(ours(await driver.stores().deliveries.backlog())).toEqual([
        { webhook_id: one, rows: 3, bytes: 33 },
        { webhook_id: two, rows: 1, bytes: 11 },
      ]);
    });

    test("are sent again on demand, only for their organization and webhook", async () => {
      const [organization, other] = [await newOrganization(), await newOrganization()];
      const [webhook, second] = [await newWebhook(organization), await newWebhook(organization)];
      await queue(organization, webhook.id, ["a"]);
      const [claimed] = await claim(webhook.id, 1);
      await driver.stores().deliveries.finish([outcome({ id: claimed!.id, status: "failed" })]);
      const times = { now: at(10), expiresAt: at(20) };
      expect(await driver.stores().deliveries.redeliver(other, webhook.id, claimed!.event_id, times)).toBeUndefined();
      expect(
        await driver.stores().deliveries.redeliver(organization, second.id, claimed!.event_id, times),
      ).toBeUndefined();
      expect(
        await driver.stores().deliveries.redeliver(organization, webhook.id, claimed!.event_id, times),
      ).toMatchObject({
        status: "pending",
        attempts: 0,
        next_attempt_at: at(10),
        expires_at: at(20),
      });
      expect(await claim(webhook.id, 10)).toHaveLength(1);
    });

    test("are abandoned in portions once their webhook is disabled, and not before", async () => {
      const organization = await newOrganization();
      const [off, on] = [await newWebhook(organization), await newWebhook(organization)];
      for (const { id } of [off, on]) await queue(organization, id, ["a", "b", "c"]);
      const abandon = (limit: number) => driver.stores().deliveries.abandon(off.id, limit);
      expect(await abandon(10)).toEqual([]);
      const [inProgress] = await claim(off.id, 1, 1);
      await driver.stores().webhooks.update(organization, off.id, { active: false }, at(2));
      expect(await abandon(2)).toEqual([11, 11]);
      const onAgain = await driver.stores().webhooks.update(organization, off.id, { active: true }, at(3));
      await driver.stores().webhooks.disable(onAgain!, "Gone.", at(4));
      expect(await abandon(2)).toEqual([11]);
      expect(await abandon(2)).toEqual([]);
      const rows = await logOf(organization, off.id);
      expect(new Set(rows.map(({ status, next_attempt_at: next }) => `${status} ${next}`))).toEqual(
        new Set(["failed null"]),
      );
      expect(new Set(rows.map(({ error }) => error))).toEqual(
        new Set(["the webhook was switched off", "the webhook was switched off: Gone."]),
      );
      expect((await logOf(organization, on.id)).every(({ status }) => status === "pending")).toBe(true);

      const { id } = inProgress!;
      const statusOf = async () => (await logOf(organization, off.id)).find((row) => row.id === id)?.status;
      const retry = { status: "pending" as const, next_attempt_at: at(9) };
      await driver.stores().deliveries.finish([outcome({ id, ...retry })]);
      expect(await statusOf()).toBe("failed");
      await driver.stores().deliveries.finish([outcome({ id })]);
      expect(await statusOf()).toBe("delivered");
    });

    test("are deleted in portions once they are finished", async () => {
      const organization = await newOrganization();
      const { id } = await newWebhook(organization);
      await queue(organization, id, ["old"], -24 * 60);
      await driver.stores().deliveries.finish((await claim(id, 0)).map(({ id }) => outcome({ id, status: "failed" })));
      await queue(organization, id, ["new"]);
      expect(await driver.stores().deliveries.purge(at(-24 * 60 + 1), 10)).toBeGreaterThanOrEqual(1);
      expect((await logOf(organization, id)).map(({ event_id }) => event_id)).toEqual(["new"]);
      await queue(organization, id, ["b", "c", "d"]);
      await driver.stores().deliveries.finish((await claim(id, 1)).map(({ id }) => outcome({ id })));
      const trim = (before: string) => driver.stores().deliveries.trim(id, { keep: 1, before, limit: 2 });
      // Younger ones are retained, so that the same event, published again, is found.
      expect(await trim(at(0))).toBe(0);
      await queue(organization, id, ["b"]);
      expect(await driver.stores().deliveries.queues()).not.toContainEqual(expect.objectContaining({ webhook_id: id }));
      expect(await trim(at(1))).toBe(2);
      expect(await trim(at(1))).toBe(1);
      expect(await trim(at(1))).toBe(0);
      expect((await logOf(organization, id)).map(({ event_id }) => event_id)).toEqual(["d"]);
    });

    test("are deleted with their webhook", async () => {
      const organization = await newOrganization();
      const [deleted, retained] = [await newWebhook(organization), await newWebhook(organization)];
      const ids = Array.from({ length: 1_100 }, (_, i) => `e${i}`);
      await queue(organization, deleted.id, ids);
      await queue(organization, retained.id, ["a"]);
      expect(await driver.stores().webhooks.delete(organization, deleted.id)).toBe(true);
      expect(await driver.stores().webhooks.find(organization, deleted.id)).toBeUndefined();
      expect(await logOf(organization, deleted.id)).toEqual([]);
      expect(await logOf(organization, retained.id)).toHaveLength(1);
    });
  });
}
