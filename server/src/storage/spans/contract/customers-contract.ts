import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ListCustomersQuery } from "../customer-queries.ts";
import type { ContractDriver } from "./span-fixtures.ts";
import { firstPage, listOf, newOrganization, nsAt, spanRow, timeAt } from "./span-fixtures.ts";

export function describeCustomers({ store, insert }: ContractDriver): void {
  const profile = (organization_id: string, customer_identifier: string, members: object = {}) => ({
    organization_id,
    environment: "prod",
    customer_identifier,
    version: "1",
    is_deleted: 0,
    first_seen: timeAt(0),
    ...members,
  });
  const insertProfiles = async (...rows: object[]) => {
    const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await store().insert({ ndjson, rows: rows.length, token: randomUUID(), table: "customers" });
  };
  const list = async (organization_id: string, query: Partial<ListCustomersQuery> = {}) => {
    const sort = { field: "customer_identifier", descending: false } as const;
    const request = { scope: { organization_id }, window: undefined, ...firstPage, sort, ...query };
    const { count, keys } = await store().listCustomers(request);
    return [count, ...keys.map(({ customer_identifier: name, environment }) => `${name} ${environment}`)];
  };

  describe("customers", () => {
    it("are listed once each, in their newest version, and only those of the scope", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      await insertProfiles(
        profile(org, "ann", { name: "Old" }),
        profile(org, "bob", { name: "Bob" }),
        profile(org, "gone"),
        profile(other, "eve"),
        profile(org, "tom", { environment: "test" }),
      );
      await insertProfiles(
        profile(org, "ann", { name: "Zoë", version: "3" }),
        profile(org, "gone", { version: "3", is_deleted: 1 }),
      );
      await insertProfiles(profile(org, "ann", { name: "Late", version: "2" }));
      expect(await list(org)).toEqual([3, "ann prod", "bob prod", "tom test"]);
      const byName = { field: "name", descending: true } as const;
      expect(await list(org, { scope: { organization_id: org, environment: "prod" }, sort: byName })).toEqual([
        2,
        "ann prod",
        "bob prod",
      ]);
      expect(await list(org, { page: 2, pageSize: 2 })).toEqual([3, "tom test"]);
    });

    it("are sorted and described by their spans, including customers without spans", async () => {
      const org = newOrganization();
      await insertProfiles(profile(org, "ann"), profile(org, "bob"), profile(org, "idle"));
      const wrapper = { trace_unique_id: "t", span_unique_id: "w", cost: 1, total_tokens: 5, has_parent: 0 };
      await insert([
        spanRow(org, { customer_identifier: "ann", ...wrapper }),
        spanRow(org, { trace_unique_id: "t", span_unique_id: "c", span_parent_id: "w", cost: 1, total_tokens: 5 }),
        spanRow(org, { customer_identifier: "bob", cost: 0.25, timestamp: timeAt(9) }),
        spanRow(org, { customer_identifier: "bob", cost: 0.5, timestamp: timeAt(1) }),
      ]);
      const costliest = { field: "total_cost", descending: true } as const;
      expect(await list(org, { sort: costliest })).toEqual([3, "ann prod", "bob prod", "idle prod"]);
      const window = { fromNs: nsAt(1), toNs: nsAt(30) };
      expect(await list(org, { window })).toEqual([1, "bob prod"]);
      const request = { scope: { organization_id: org }, identifiers: ["ann", "bob", "idle"], periodFromNs: nsAt(5) };
      const described = await store().describeCustomers(request);
      const costs = described.map((row) => [
        row.customer_identifier,
        [row.number_of_requests, row.total_cost, row.period_cost],
      ]);
      expect(Object.fromEntries(costs as [string, number[]][])).toEqual({ ann: [2, 1, 0], bob: [2, 0.75, 0.25] });
    });

    it("are removed only from earlier spans when a deletion is repeated", async () => {
      const org = newOrganization();
      const [before, after, muchLater] = [timeAt(1), timeAt(5), "2026-05-05 06:05:05.000000000"];
      const span = { customer_identifier: "ann", log_method: "logging_api" };
      const call = { ...span, log_method: "gateway", timestamp: after, received_at: after };
      const old = [
        spanRow(org, { ...span, timestamp: after, received_at: before }),
        spanRow(org, { ...span, timestamp: before, received_at: after }),
        spanRow(org, { ...call, start_time: before }),
      ];
      const fresh = [
        spanRow(org, { ...span, timestamp: after, received_at: after, start_time: before }),
        spanRow(org, { ...call, start_time: after }),
        // Its node knew of the deletion, and that the customer was new.
        spanRow(org, { ...span, timestamp: before, received_at: muchLater }),
      ];
      await insert([...old, ...fresh]);
      const key = { organization_id: org, environment: "prod", customer_identifier: "ann" } as const;
      await store().unnameCustomer(key, nsAt(3));
      const { rows } = await store().listSpans(listOf(org, { fields: ["unique_id", "customer_identifier"] }));
      const named = rows.filter((row) => row.customer_identifier === "ann").map((row) => row.unique_id);
      expect(named.toSorted()).toEqual(fresh.map((row) => row.unique_id).toSorted());
    });

    it("are removed from their spans together with notes; ratings, pins and removed metadata stay", async () => {
      const org = newOrganization();
      const spans = ["ann", "bob"].map((customer_identifier) =>
        spanRow(org, { customer_identifier, note: "sent", metadata: { retained: 1, secret: "x" } }),
      );
      await insert(spans);
      const change = { note: "Ann called.", is_pinned: true, positive_feedback: false, metadata: { secret: null } };
      await store().editSpans(
        org,
        spans.map(({ unique_id }) => ({ unique_id, change })),
        Date.now(),
      );
      const key = { organization_id: org, environment: "prod", customer_identifier: "ann" } as const;
      for (const _time of ["first", "again"]) await store().unnameCustomer(key);
      const fields = ["note", "is_pinned", "positive_feedback", "metadata", "customer_identifier"] as const;
      const { rows } = await store().listSpans(listOf(org, { fields }));
      const stays = { is_pinned: true, positive_feedback: false, metadata: '{"retained":1}' };
      expect(new Map(rows.map(({ customer_identifier: customer, ...row }) => [customer, row]))).toMatchObject(
        new Map([
          ["", { ...stays, note: "sent" }],
          ["bob", { ...stays, note: "Ann called." }],
        ]),
      );
      const found = { sql: "note = {note:String}", params: { note: "Ann called." }, columns: new Set(["note"]) };
      expect((await store().listSpans(listOf(org, { fields, filter: found }))).count).toBe(1);
    });

    it("are removed from their spans, which otherwise stay unchanged", async () => {
      const org = newOrganization();
      const params = { customer_identifier: "ann", email: "a@b.c" };
      const retained = { variables: { a: [1, "}"] }, note: 'a "quoted" note' };
      const named = { customer_identifier: "ann", customer_email: "a@b.c", customer_name: "Ann", input: "in" };
      await insert([
        spanRow(org, { ...named, extra: { customer_params: params, ...retained } }),
        spanRow(org, { ...named, extra: retained }),
        spanRow(org, { customer_identifier: "bob" }),
        spanRow(org, { ...named, environment: "test" }),
      ]);
      await store().unnameCustomer({ organization_id: org, environment: "prod", customer_identifier: "ann" });
      const fields = ["customer_identifier", "customer_email", "customer_name", "extra", "input"] as const;
      const { count, rows } = await store().listSpans(
        listOf(org, { scope: { organization_id: org, environment: "prod" }, fields }),
      );
      expect(count).toBe(3);
      const unnamed = rows.filter((row) => row.customer_identifier === "");
      expect(unnamed).toHaveLength(2);
      for (const row of unnamed) {
        expect(row).toMatchObject({ customer_email: "", customer_name: "", input: "in" });
        expect(JSON.parse(row.extra ?? "")).toEqual(retained);
      }
      expect(
        (await store().describeCustomers({ scope: { organization_id: org }, identifiers: ["ann"] })).map(
          ({ environment }) => environment,
        ),
      ).toEqual(["test"]);
    });
  });
}
