import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { definitionOf, type Alert, type AlertGroupStatus, type AlertHistoryEntry } from "../../src/domain/alert.ts";
import type { Organization } from "../../src/domain/organization.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import type { AlertResult, NewAlert } from "../../src/storage/control/alert-store.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString();

/** The part of control-store-contract.ts about alert rules, their states and histories. */
export function describeAlertStores(driver: {
  stores: () => ControlStores;
  newOrganization: () => Promise<Organization>;
}) {
  const alerts = () => driver.stores().alerts;
  const newOrganization = async (): Promise<string> => (await driver.newOrganization()).unique_organization_id;
  const newAlert = (unique_organization_id: string, fields: Partial<NewAlert> = {}): Promise<Alert> =>
    alerts().create({
      id: randomUUID(),
      unique_organization_id,
      environment: "prod",
      name: "Rule",
      is_enabled: true,
      filters: { model: "m" },
      metric: "total_cost",
      window: "5m",
      operator: "gt",
      threshold: 0.1,
      change_percentage: null,
      group_by: ["customer_identifier"],
      min_requests: 1,
      cooldown: "5m",
      created_at: at(0),
      ...fields,
    });
  const status = (customer_identifier: string): AlertGroupStatus => ({
    group: { customer_identifier },
    state: "triggered",
    since: at(1),
    value: 1.5,
    previous_value: null,
    number_of_requests: 3,
    seen_at: at(1),
    is_notified: true,
    notified_at: at(1),
  });
  const result = (alert: Alert, minute: number, fields: Partial<AlertResult> = {}): AlertResult => ({
    id: alert.id,
    revision: alert.revision,
    counts: { ok: 0, triggered: 1, no_data: 0 },
    next_evaluation_at: at(minute + 1),
    window_end: at(minute),
    definition: definitionOf(alert),
    statuses: [status("ann"), status("bob")],
    ...fields,
  });
  const entry = (alert: Alert, minute: number, customer = "ann"): AlertHistoryEntry => ({
    id: `${minute} ${customer}`,
    alert_id: alert.id,
    unique_organization_id: alert.unique_organization_id,
    environment: alert.environment,
    group: { customer_identifier: customer },
    state: "triggered",
    previous_state: "ok",
    event: "alert_triggered",
    event_id: `msg_${minute}`,
    value: 1,
    previous_value: null,
    number_of_requests: 3,
    window_start: at(minute - 5),
    window_end: at(minute),
    spans_path: "/",
    error: null,
    created_at: at(minute),
  });
  const claim = (now: number, except: string[] = []) => alerts().claim({ now: at(now), until: at(now + 1), except });
  /** Otherwise rules of other tests would be claimed too. */
  const claimAll = async (now: number): Promise<void> => {
    while ((await claim(now)).length > 0);
  };
  const historyOf = (alert: Alert, organization = alert.unique_organization_id) =>
    alerts().history(organization, alert.id, { page: 1, pageSize: 100 });

  describe("alert rules", () => {
    test("are stored unchanged, updated and deleted, only for their organization", async () => {
      const [mine, theirs] = [await newOrganization(), await newOrganization()];
      const made = await newAlert(mine);
      expect(await alerts().find(mine, made.id)).toEqual(made);
      expect(await alerts().list(mine)).toEqual([made]);
      expect(await alerts().find(theirs, made.id)).toBeUndefined();
      const changes = {
        name: "Other",
        is_enabled: false,
        evaluated_until: null,
        definition: {
          ...definitionOf(made),
          threshold: null,
          change_percentage: 50,
        },
      };
      expect(await alerts().update(theirs, made.id, changes, at(1))).toBeUndefined();
      expect(await alerts().update(mine, made.id, changes, at(1))).toEqual({
        ...made,
        name: "Other",
        is_enabled: false,
        threshold: null,
        change_percentage: 50,
        revision: 2,
        updated_at: at(1),
        next_evaluation_at: at(1),
      });
      expect(await alerts().remove(theirs, made.id)).toBe(false);
      expect(await alerts().remove(mine, made.id)).toBe(true);
      expect(await alerts().find(mine, made.id)).toBeUndefined();
    });

    test("are claimed once, however many nodes claim at the same time, and are due again when the claim expires", async () => {
      await claimAll(5);
      const organization = await newOrganization();
      const made = [
        await newAlert(organization, { metric: "p95_latency" }),
        await newAlert(organization, { window: "6m" }),
        await newAlert(organization, { group_by: ["model"] }),
      ];
      await newAlert(organization, { is_enabled: false });
      const ids: string[] = [];
      for (let round = 0; round < made.length; round += 1) {
        const claimed = await Promise.all(Array.from({ length: 8 }, () => claim(5)));
        ids.push(...claimed.flat().map(({ id }) => id));
      }
      expect(ids.sort()).toEqual(made.map(({ id }) => id).sort());
      for (const alert of await claim(6, [organization])) expect(alert.unique_organization_id).not.toBe(organization);
      await claimAll(6);
      await alerts().release(made[0]!, at(5));
      expect(await claim(6)).toMatchObject([{ id: made[0]!.id }]);
    });

    test("are claimed together if they differ only in metric and, over short windows, in filters", async () => {
      await claimAll(5);
      const organization = await newOrganization();
      const made = [
        await newAlert(organization),
        await newAlert(organization, { metric: "p95_latency", operator: "lt", threshold: 3, cooldown: "1h" }),
        await newAlert(organization, { window: "1h" }),
        await newAlert(organization, { filters: {} }),
      ];
      const others = [
        await newAlert(await newOrganization()),
        await newAlert(organization, { environment: "test" }),
        await newAlert(organization, { group_by: [] }),
        await newAlert(organization, { window: "1h" }),
        await newAlert(organization, { threshold: null, change_percentage: 10 }),
        await newAlert(organization, { window: "1d" }),
        await newAlert(organization, { window: "1d", filters: {} }),
      ];
      await alerts().update(organization, made[2]!.id, { ...made[2]!, definition: definitionOf(made[0]!) }, at(1));
      const textOf = (together: readonly Alert[]): string =>
        together
          .map(({ id }) => id)
          .toSorted()
          .join(" ");
      const groups: string[] = [];
      for (let next = await claim(5); next.length > 0; next = await claim(5)) groups.push(textOf(next));
      expect(groups.toSorted()).toEqual([textOf(made), ...others.map(({ id }) => id)].toSorted());
    });

    test("of a blocked organization are not claimed", async () => {
      await claimAll(5);
      const { unique_organization_id: organization } = await driver.newOrganization();
      const made = await newAlert(organization);
      const block = (blocked_at: string | null) => driver.stores().organizations.update(organization, { blocked_at });
      await block(at(1));
      expect(await claim(5)).toEqual([]);
      await block(null);
      expect(await claim(5)).toMatchObject([{ id: made.id }]);
    });

    test("finish each window once, and only as the rule that was evaluated", async () => {
      const organization = await newOrganization();
      const made = await newAlert(organization);
      const finish = (given: AlertResult) => driver.stores().transaction((set) => set.alerts.finish(given));
      const finished = await Promise.all([1, 2, 3].map(() => finish(result(made, 10))));
      expect(finished.filter(Boolean)).toHaveLength(1);
      expect(await alerts().find(organization, made.id)).toMatchObject({
        evaluated_until: at(10),
        next_evaluation_at: at(11),
        last_error: null,
        counts: {
          ok: 0,
          triggered: 1,
          no_data: 0,
        },
      });
      expect(await alerts().statuses(made.id)).toEqual({
        definition: definitionOf(made),
        window_end: at(10),
        statuses: [status("ann"), status("bob")],
      });
      expect([await finish(result(made, 9)), await finish(result(made, 10))]).toEqual([false, false]);
      expect(await finish(result(made, 12, { statuses: [] }))).toBe(true);
      expect((await alerts().statuses(made.id))?.statuses).toEqual([]);
      const changes = { ...made, definition: definitionOf(made), evaluated_until: at(12) };
      await alerts().update(organization, made.id, changes, at(12));
      expect(await finish(result(made, 13))).toBe(false);
      await alerts().update(organization, made.id, { ...changes, is_enabled: false }, at(12));
      expect(await finish(result({ ...made, revision: 3 }, 13))).toBe(false);
    });

    test("report why an evaluation was delayed, as a change only once, until they are evaluated", async () => {
      const organization = await newOrganization();
      const made = await newAlert(organization);
      const failure = { error: "down", at: at(1), next_evaluation_at: at(2) };
      expect(await alerts().putOff(made, failure)).toBe(true);
      expect(await alerts().putOff(made, { ...failure, at: at(2), next_evaluation_at: at(3) })).toBe(false);
      expect(await alerts().find(organization, made.id)).toMatchObject({
        last_error: "down",
        last_error_at: at(1),
        next_evaluation_at: at(3),
        evaluated_until: null,
      });
      expect(await alerts().putOff({ ...made, revision: 7 }, { ...failure, error: "other" })).toBe(false);
      await driver.stores().transaction((set) => set.alerts.finish(result(made, 4)));
      expect(await alerts().find(organization, made.id)).toMatchObject({ last_error: null, last_error_at: null });
    });

    test("are tested once per interval, however many requests arrive at the same time", async () => {
      const { id } = await newAlert(await newOrganization());
      const test = (now: number, since: number) => alerts().noteTest(id, { now: at(now), since: at(since) });
      expect((await Promise.all([test(5, 4), test(5, 4), test(5, 4)])).filter(Boolean)).toHaveLength(1);
      expect([await test(6, 4), await test(7, 5)]).toEqual([false, true]);
    });

    test("have a history, newest first, of a bounded number of recent entries", async () => {
      const organization = await newOrganization();
      const [made, other] = [await newAlert(organization), await newAlert(organization)];
      await alerts().addHistory([entry(made, 1), entry(made, 2)]);
      await alerts().addHistory([entry(other, 3)]);
      const { count, rows } = await historyOf(made);
      expect([count, rows.map(({ window_end }) => window_end)]).toEqual([2, [at(2), at(1)]]);
      expect(rows[0]).toEqual(entry(made, 2));
      expect((await historyOf(made, await newOrganization())).count).toBe(0);
      expect(await alerts().purgeHistory(at(2), 1)).toBe(1);
      expect((await historyOf(made)).count).toBe(1);
      await alerts().addHistory(
        Array.from({ length: storageLimits.alertHistoryRows + 5 }, (_, minute) => entry(made, minute)),
      );
      const retained = await historyOf(made);
      expect([retained.count, retained.rows[0]?.window_end]).toEqual([
        storageLimits.alertHistoryRows,
        at(storageLimits.alertHistoryRows + 4),
      ]);
      await alerts().remove(organization, other.id);
      expect((await historyOf(other)).count).toBe(0);
    });

    test("lose a deleted customer, also during an evaluation", async () => {
      const organization = await newOrganization();
      const made = await newAlert(organization);
      await driver.stores().transaction((set) => set.alerts.finish(result(made, 1)));
      await alerts().addHistory([entry(made, 1, "ann"), entry(made, 1, "bob")]);
      await alerts().eraseCustomer({ organization_id: organization, environment: "test", customer_identifier: "ann" });
      expect((await alerts().statuses(made.id))?.statuses).toHaveLength(2);
      await alerts().eraseCustomer({ organization_id: organization, environment: "prod", customer_identifier: "ann" });
      expect((await alerts().statuses(made.id))?.statuses).toEqual([status("bob")]);
      expect((await historyOf(made)).rows).toMatchObject([{ group: { customer_identifier: "bob" } }]);
      expect(await driver.stores().transaction((set) => set.alerts.finish(result(made, 2)))).toBe(false);
    });

    test("have channels that are not webhooks of the organization", async () => {
      const organization = await newOrganization();
      const made = await newAlert(organization);
      const { webhooks } = driver.stores();
      const channel = await webhooks.create({
        unique_organization_id: organization,
        environment: "prod",
        organization_key: null,
        name: "C",
        url: "ops@example.com",
        event_type: "alert_triggered",
        active: true,
        legacy_signatures: false,
        secret: "",
        created_at: at(0),
        channel: "email",
        alert_id: made.id,
      });
      expect(channel).toMatchObject({ channel: "email", alert_id: made.id });
      expect(await webhooks.listChannels(organization, [made.id])).toEqual([channel]);
      expect(await webhooks.listChannels(await newOrganization(), [made.id])).toEqual([]);
      expect(await webhooks.list(organization)).toEqual([]);
      expect(await webhooks.find(organization, channel.id)).toBeUndefined();
      expect((await webhooks.listActive()).map(({ id }) => id)).toContain(channel.id);
    });
  });
}
