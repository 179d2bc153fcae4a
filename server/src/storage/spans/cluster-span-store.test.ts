import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestClickHouse, type TestClickHouse } from "../../../test/support/clickhouse-http-server.ts";
import { Secret } from "../../lib/secret.ts";
import { describeSeveralWriters } from "./contract/several-writers-contract.ts";
import { openSpanDatabase, openSpanStore, type SpansLocation } from "./clickhouse-span-store.ts";
import { ndjsonLine, newOrganization, spanRow, timeAt } from "./contract/span-fixtures.ts";
import { describeSpanStore } from "./contract/span-store-contract.ts";

let server: TestClickHouse;
beforeAll(async () => {
  server = await startTestClickHouse("cluster");
});
afterAll(() => server.stop());

const location = (): SpansLocation => ({
  kind: "clickhouse",
  url: server.url,
  username: "default",
  password: new Secret(""),
  database: "default",
  cluster: "main",
});

describeSpanStore(
  "N4: a cluster of two shards",
  (bounds = {}) => openSpanStore(location(), { bounds, sumsFromSpans: 0 }),
  "shards",
);
describeSeveralWriters("N4: a cluster of two shards", () => ({
  store: openSpanStore(location()),
  database: openSpanDatabase(location()),
}));

test("N4: stores a trace, all versions of its spans and their counts on one shard, and spreads traces over all shards", async () => {
  const [store, database] = [openSpanStore(location()), openSpanDatabase(location())];
  await store.migrate();
  const organization_id = newOrganization();
  // The first half of an id is that of its trace: domain/identity.ts.
  const traces = Array.from({ length: 25 }, randomUUID);
  const rows = Array.from({ length: 200 }, (_, index) => {
    const trace = traces[Math.floor(index / 8)] ?? "";
    const unique_id = `${trace.slice(0, 18)}-8000-00000000000${index % 4}`;
    const times = { timestamp: timeAt(index % 8), version: String(index + 1) };
    return spanRow(organization_id, { trace_unique_id: trace, unique_id, ...times });
  });
  const batch = (lines: readonly object[]) => {
    return { ndjson: Buffer.from(lines.map(ndjsonLine).join("")), rows: lines.length, token: randomUUID() };
  };
  const counts = rows.map((row) => ({ ...row, cost: 1, changes_usage: 1 }));
  try {
    await store.insert(batch(rows));
    await store.insert({ ...batch(counts), table: "span_counts" });
    const lie = `SELECT trace_unique_id AS trace, _shard_num AS shard FROM spans WHERE organization_id = {org:String}
      UNION ALL SELECT trace_unique_id, _shard_num FROM span_counts WHERE organization_id = {org:String}`;
    const sql = `SELECT count() AS traces, max(shards) AS most, uniqExact(first) AS used FROM
      (SELECT trace, uniqExact(shard) AS shards, any(shard) AS first FROM (${lie}) GROUP BY trace)`;
    const found = await database.query({ name: "test", sql, params: { org: organization_id } });
    expect(found.rows).toEqual([{ traces: "25", most: "1", used: "2" }]);
  } finally {
    await Promise.all([store.close(), database.close()]);
  }
});
