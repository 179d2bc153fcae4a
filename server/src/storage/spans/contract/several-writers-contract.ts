import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanStore } from "../span-store.ts";
import { everythingOf, listOf, mostFirst, firstPage, ndjsonLine, newOrganization, spanRow } from "./span-fixtures.ts";

/**
 * Nodes that do not know each other's spans: no row is marked `is_resend`, and versions of one span are in different
 * parts until the server merges them (docs/adr/0053-reads-of-a-server-use-final.md).
 */
export function describeSeveralWriters(driver: string, open: () => { store: SpanStore; database: SpanDatabase }): void {
  describe(`a span stored by two nodes, on ${driver}`, () => {
    let nodes: Array<ReturnType<typeof open>>;
    beforeAll(async () => {
      nodes = [open(), open()];
      await nodes[0]?.store.migrate();
    });
    afterAll(async () => {
      for (const { store, database } of nodes) await Promise.all([store.close(), database.close()]);
    });

    it("is one in every read before its two rows are merged", async () => {
      const org = newOrganization();
      const [one, other] = nodes as [ReturnType<typeof open>, ReturnType<typeof open>];
      const [local, query] = [one.database.cluster === null ? "spans" : "spans_local", one.database];
      const stated = { cost: 1, model: "m", trace_unique_id: "t", span_unique_id: "s", customer_identifier: "c" };
      const span = spanRow(org, { ...stated, is_resend: 0 });
      await query.execute({ name: "test", sql: `SYSTEM STOP MERGES ${local}` });
      try {
        for (const [index, { store }] of [one, other].entries()) {
          const ndjson = Buffer.from(ndjsonLine({ ...span, version: String(index + 1), output: `from ${index}` }));
          await store.insert({ ndjson, rows: 1, token: randomUUID() });
        }
        const sql = "SELECT count() AS rows FROM spans WHERE organization_id = {org:String}";
        expect((await query.query({ name: "test", sql, params: { org } })).rows).toEqual([{ rows: "2" }]);
        for (const { store } of nodes) {
          const all = everythingOf(org);
          expect(await store.summarizeSpans(all)).toMatchObject({ number_of_requests: 1, total_cost: 1 });
          const { count, rows } = await store.listSpans(listOf(org, { fields: ["output"] }));
          expect([count, rows.map(({ output }) => output)]).toEqual([1, ["from 1"]]);
          const grouped = await store.groupSpans({ ...all, ...firstPage, groupBy: ["model"], sort: mostFirst });
          expect(grouped.rows).toMatchObject([{ number_of_requests: 1, total_cost: 1 }]);
        }
      } finally {
        await query.execute({ name: "test", sql: `SYSTEM START MERGES ${local}` });
      }
    });
  });
}
