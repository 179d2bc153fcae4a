import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SpanColumn } from "../../../domain/span.ts";
import { spanColumns } from "../../../domain/span.ts";
import { parseTimeNs } from "../../../lib/time.ts";
import type { ContractDriver } from "./span-fixtures.ts";
import {
  always,
  ascending,
  everythingOf,
  expectedFullRow,
  firstPage,
  fullRow,
  keyOf,
  listOf,
  mostFirst,
  ndjsonLine,
  newOrganization,
  spanRow,
  timeAt,
} from "./span-fixtures.ts";

export function describeRows({ store, insert }: ContractDriver): void {
  describe("stored rows", () => {
    it("keep every column exactly", async () => {
      const org = newOrganization();
      const sent = fullRow(org);
      await store().insert({ ndjson: Buffer.from(ndjsonLine(sent)), rows: 1, token: randomUUID() });
      const span = await store().retrieveSpan({ organization_id: org }, sent.unique_id);
      expect(span).toEqual(expectedFullRow(sent));
    });

    it("return absent members as absent", async () => {
      const org = newOrganization();
      const row = spanRow(org);
      await insert([row]);
      const span = await store().retrieveSpan({ organization_id: org }, row.unique_id);
      for (const [column, kind] of Object.entries(spanColumns)) {
        if (column in row || ["start_time", "received_at", "is_deleted", "is_resend"].includes(column)) continue;
        const absent = kind === "map" ? {} : ["text", "json"].includes(kind) ? "" : null;
        expect(span?.[column as SpanColumn], column).toEqual(absent);
      }
      expect(span?.start_time).toBe(row.timestamp);
    });

    it("keep the JSON of a member as it was written", async () => {
      const org = newOrganization();
      const texts = [
        '{"b": 1, "a":[ ]}',
        "{}",
        "[1,null]",
        "12.50",
        "true",
        '{"n":12345678901234567890123,"u":"\\u00e9\\ud83d\\ude00"}',
      ];
      const rows = texts.map(() => spanRow(org));
      const lines = rows.map((row, i) => `${JSON.stringify(row).slice(0, -1)},"metadata":${texts[i]}}\n`);
      await store().insert({ ndjson: Buffer.from(lines.join("")), rows: rows.length, token: randomUUID() });
      const read = await Promise.all(rows.map((row) => store().retrieveSpan({ organization_id: org }, row.unique_id)));
      expect(read.map((span) => span?.metadata)).toEqual(texts);
    });

    it("distinguish instants by a nanosecond and accept dates of any year in one batch", async () => {
      const org = newOrganization();
      const times = [
        "1900-01-01 00:00:00.000000000",
        "1970-01-01 00:00:00.000000001",
        "1970-01-01 00:00:00.000000002",
        "2026-05-05 05:05:05.123456788",
        "2026-05-05 05:05:05.123456789",
        "2262-04-11 23:47:16.854775807",
      ];
      await insert(times.map((timestamp) => spanRow(org, { timestamp })));
      const { count, rows } = await store().listSpans(listOf(org, { window: always, sort: ascending("timestamp") }));
      expect(count).toBe(6);
      expect(rows.map((row) => row.timestamp)).toEqual(times);
      const one = parseTimeNs("1970-01-01T00:00:00.000000002Z") ?? 0n;
      expect((await store().listSpans(listOf(org, { window: { fromNs: one, toNs: one } }))).count).toBe(1);
    });
  });

  describe("one span, many rows", () => {
    it("shows a resend once, as a whole, and the higher version in either order", async () => {
      const org = newOrganization();
      const first = spanRow(org, { version: "10", model: "gpt-4o", input: "asked", cost: 1 });
      const fuller = { ...first, version: "20", model: "gpt-4o-mini", input: undefined, cost: 2 };
      await insert([first]);
      await insert([first]);
      await insert([fuller]);
      await insert([first]);
      const { count, rows } = await store().listSpans(listOf(org, { fields: ["model", "input", "cost"] }));
      expect(count).toBe(1);
      expect(rows[0]).toMatchObject({ model: "gpt-4o-mini", input: "", cost: 2 });
      expect(await store().retrieveSpan({ organization_id: org }, first.unique_id)).toMatchObject({
        cost: 2,
        version: "20",
      });
      expect(await store().summarizeSpans(everythingOf(org))).toMatchObject({ number_of_requests: 1, total_cost: 2 });
    });

    it("moves a span whose timestamp changed, with a tombstone on the old one", async () => {
      const org = newOrganization();
      const started = spanRow(org, { version: "10", timestamp: "2026-05-05 10:00:00.000000000" });
      const ended = { ...started, version: "20", timestamp: "2026-05-05 10:30:00.000000000", output: "done" };
      await insert([started]);
      await insert([ended, { ...keyOf(started), version: "20", is_deleted: 1 }]);
      const { count, rows } = await store().listSpans(listOf(org, { fields: ["output"] }));
      expect([count, rows.map((row) => row.output)]).toEqual([1, ["done"]]);
      expect(await store().retrieveSpan({ organization_id: org }, started.unique_id)).toMatchObject({ output: "done" });
    });

    it("hides a span with a tombstone", async () => {
      const org = newOrganization();
      const [retained, deleted] = [spanRow(org, { cost: 1 }), spanRow(org, { cost: 5 })];
      await insert([retained, deleted]);
      await insert([{ ...keyOf(deleted), version: "99", is_deleted: 1 }]);
      expect((await store().listSpans(listOf(org))).rows.map((row) => row.unique_id)).toEqual([retained.unique_id]);
      expect(await store().retrieveSpan({ organization_id: org }, deleted.unique_id)).toBeUndefined();
      expect((await store().summarizeSpans(everythingOf(org))).total_cost).toBe(1);
    });

    it("still fills a page when most rows near the end of the window are resends", async () => {
      const org = newOrganization();
      const rows = Array.from({ length: 30 }, (_, i) => spanRow(org, { timestamp: timeAt(i) }));
      const again = rows.slice(20);
      await insert(rows);
      for (let round = 0; round < 9; round += 1)
        await insert(again.map((row) => ({ ...row, version: String(100 + round) })));
      const { count, rows: page } = await store().listSpans(listOf(org, { pageSize: 15 }));
      expect([count, page.map((row) => row.unique_id)]).toEqual([
        30,
        rows
          .slice(15)
          .toReversed()
          .map((row) => row.unique_id),
      ]);
    });

    it.each([0, 1_000_000])("stores nothing for a known token, after rows of %i bytes", async (chars) => {
      const org = newOrganization();
      const token = randomUUID();
      const first = [spanRow(org), spanRow(org, { input: "x".repeat(chars) })];
      await insert(first, token);
      // Other rows, because the same rows would collapse by their key anyway.
      await insert([spanRow(org)], token);
      await insert([spanRow(org)]);
      const { rows } = await store().listSpans(listOf(org));
      expect(rows.filter((row) => first.some(({ unique_id }) => unique_id === row.unique_id))).toHaveLength(2);
      expect(rows).toHaveLength(3);
    });
  });

  describe("tenants", () => {
    it("separates organizations and environments, with the same ids in all of them", async () => {
      const [one, two] = [newOrganization(), newOrganization()];
      const shared = spanRow(one);
      const rows = [one, two].flatMap((organization_id) =>
        ["prod", "test"].map((environment) => ({
          ...shared,
          organization_id,
          environment,
          model: `${organization_id}/${environment}`,
        })),
      );
      await insert(rows);
      for (const { organization_id, environment, model } of rows) {
        const scope = { organization_id, environment: environment as "prod" };
        const listed = await store().listSpans(listOf(organization_id, { scope, fields: ["model"] }));
        expect([listed.count, listed.rows.map((row) => row.model)]).toEqual([1, [model]]);
        expect((await store().retrieveSpan(scope, shared.unique_id))?.model).toBe(model);
        const groups = await store().groupSpans({
          ...everythingOf(organization_id),
          scope,
          groupBy: ["model"],
          ...firstPage,
          sort: mostFirst,
        });
        expect(groups.rows.map((group) => group.key)).toEqual([{ model }]);
      }
      expect((await store().listSpans(listOf(one))).count).toBe(2);
      expect(await store().retrieveSpan({ organization_id: newOrganization() }, shared.unique_id)).toBeUndefined();
    });
  });
}
