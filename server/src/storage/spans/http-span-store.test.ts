import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestClickHouse } from "../../../test/support/clickhouse-http-server.ts";
import type { TestClickHouse } from "../../../test/support/clickhouse-http-server.ts";
import { Secret } from "../../lib/secret.ts";
import type { QueryBounds } from "./drivers/span-database.ts";
import { openSpanDatabase, openSpanStore, type SpansLocation } from "./clickhouse-span-store.ts";
import { SpanInsertError } from "./span-store.ts";
import type { SpanStore } from "./span-store.ts";
import { describeSeveralWriters } from "./contract/several-writers-contract.ts";
import { describeSpanStore } from "./contract/span-store-contract.ts";

let server: TestClickHouse;
beforeAll(async () => {
  server = await startTestClickHouse();
});
afterAll(async () => {
  await server.stop();
});

const location = (inserts: Record<string, string> = {}): SpansLocation => ({
  kind: "clickhouse",
  url: server.url,
  username: "default",
  password: new Secret(""),
  database: "default",
  cluster: null,
  inserts,
});
const open = (bounds: Partial<QueryBounds> = {}, inserts: Record<string, string> = {}): SpanStore =>
  openSpanStore(location(inserts), { bounds, sumsFromSpans: 0 });

describeSpanStore("ClickHouse over HTTP", open, "transport");
describeSeveralWriters("N10: ClickHouse over HTTP", () => ({ store: open(), database: openSpanDatabase(location()) }));

describe("a failing ClickHouse server", () => {
  let store: SpanStore;
  beforeAll(async () => {
    store = open();
    await store.migrate();
  });
  afterAll(async () => {
    await store.close();
  });

  const window = { fromNs: 0n, toNs: 2n ** 62n };
  const ndjson = (org: string) =>
    Buffer.from(
      `${JSON.stringify({ organization_id: org, environment: "prod", timestamp: "2026-05-05 05:05:05.000000000", unique_id: "6fa459ea-ee8a-4ca4-894e-db77e160355e", version: "1", cost: 1 })}\n`,
    );

  it.each(["503", "reset"] as const)(
    "makes reads and deletions fail as unavailable and inserts as retryable if it fails with %s",
    async (refuse) => {
      const org = `org_refused_${refuse}`;
      const batch = { ndjson: ndjson(org), rows: 1, token: `refused-${refuse}` };
      await server.setFaults({ refuse });
      await expect(store.ping()).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.summarizeSpans({ scope: { organization_id: org }, window })).rejects.toMatchObject({
        code: "unavailable",
      });
      const deletion = { organization_id: org, environment: "prod", trace_unique_id: "t", ...window } as const;
      await expect(store.deleteTraces([{ ...deletion, deletedAtMs: 0 }])).rejects.toMatchObject({
        code: "unavailable",
      });
      const failure = await store.insert(batch).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SpanInsertError);
      expect(failure).toMatchObject({ kind: "retryable" });
      await server.setFaults({});
      await store.insert(batch);
      expect(await store.summarizeSpans({ scope: { organization_id: org }, window })).toMatchObject({
        number_of_requests: 1,
      });
    },
  );

  it("stores a batch once if the response was lost and the batch is sent again", async () => {
    const batch = { ndjson: ndjson("org_ambiguous"), rows: 1, token: "ambiguous-1" };
    await server.setFaults({ dropInsertReplies: 1 });
    await expect(store.insert(batch)).rejects.toMatchObject({ kind: "retryable" });
    await store.insert(batch);
    const summary = await store.summarizeSpans({ scope: { organization_id: "org_ambiguous" }, window });
    expect(summary).toMatchObject({ number_of_requests: 1, total_cost: 1 });
  });

  it("N10: has stored the row when an asynchronous insert is acknowledged", async () => {
    const collecting = open({}, { async_insert: "1", insert_quorum: "0" });
    await collecting.insert({ ndjson: ndjson("org_collected"), rows: 1, token: "collected-1" });
    const summary = await store.summarizeSpans({ scope: { organization_id: "org_collected" }, window });
    expect(summary).toMatchObject({ number_of_requests: 1 });
    await collecting.close();
  });

  it.each([
    { cluster: null, inserts: { insert_quorum: "2" }, expected: "insert_quorum = '2'" },
    { cluster: "main", inserts: { insert_quorum: "auto" }, expected: "insert_quorum = 'auto'" },
    { cluster: "main", inserts: {}, expected: "insert_quorum = 0" },
  ])("N10: sends $expected, and treats too few live replicas as retryable", async ({ cluster, inserts, expected }) => {
    const queries: string[] = [];
    const tooFew = createServer((request, response) => {
      queries.push(new URL(request.url ?? "", "http://localhost").searchParams.get("query") ?? "");
      response.writeHead(500, { "X-ClickHouse-Exception-Code": "285" });
      response.end("Code: 285. DB::Exception: Number of alive replicas (1) is less than requested quorum (2/2).");
    });
    await once(tooFew.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(tooFew.address() as AddressInfo).port}`;
    const location = { kind: "clickhouse", url, username: "default", password: new Secret(""), database: "d" } as const;
    const few = openSpanStore({ ...location, cluster, inserts });
    await expect(few.insert({ ndjson: ndjson("org_quorum"), rows: 1, token: "quorum-1" })).rejects.toMatchObject({
      kind: "retryable",
    });
    expect(queries).toEqual([expect.stringContaining(expected)]);
    expect(queries[0]?.match(/insert_quorum/g)).toHaveLength(1);
    await few.close();
    tooFew.close();
  });

  it("lets statements that run end when it is closed, within a bound", async () => {
    const batch = { ndjson: ndjson("org_closing"), rows: 1, token: "closing-1" };
    const scope = { organization_id: "org_closing" };
    await server.setFaults({ delayMs: 300 });
    const closing = open();
    const [inserted, ended] = [closing.insert(batch), closing.ping()];
    await closing.close();
    await Promise.all([inserted, ended]);
    const stuck = openSpanStore(location(), { closeGraceMs: 10 });
    await server.setFaults({ delayMs: 60_000 });
    const aborted = [stuck.insert({ ...batch, token: "closing-2" }), stuck.ping()].map((work) =>
      expect(work).rejects.toBeInstanceOf(Error),
    );
    await stuck.close();
    await Promise.all(aborted);
    await server.setFaults({});
    expect(await store.summarizeSpans({ scope, window })).toMatchObject({ number_of_requests: 1 });
  });

  it("is unavailable if nothing listens on the address", async () => {
    const nowhere = openSpanStore({
      kind: "clickhouse",
      url: "http://127.0.0.1:9",
      username: "default",
      password: new Secret(""),
      database: "default",
      cluster: null,
    });
    await expect(nowhere.ping()).rejects.toMatchObject({ code: "unavailable" });
    await nowhere.close();
  });
});
