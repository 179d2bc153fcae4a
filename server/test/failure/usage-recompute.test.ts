import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { openSpanStore } from "../../src/storage/spans/clickhouse-span-store.ts";
import { pathOf } from "../support/customers.ts";
import { always, bodyOf, settle } from "../support/spans.ts";
import { newDataDir, programEnvironment, programs, startServerProcess } from "../support/server-process.ts";

/** `npm run admin -- usage recompute`, or `recompute` for short, as operators run it on the folder of a stopped server. */

const folder = newDataDir();
afterAll(() => folder.remove());

type Failure = { code: number; stderr: string };
const admin = async (...args: string[]): Promise<unknown> => {
  const env = { ...programEnvironment(), SPANWAY_DATA_DIR: folder.path };
  const { stdout } = await promisify(execFile)(process.execPath, [...programs.admin, ...args, "--json"], { env });
  return JSON.parse(stdout);
};

let organizationId: string;

/** As if nothing had been counted yet. */
async function deleteCounts(): Promise<void> {
  const store = openSpanStore({ kind: "chdb", path: join(folder.path, "spans") });
  try {
    const scope = { organization_id: organizationId };
    const { rows } = await store.listSpans({
      scope,
      window: { fromNs: 0n, toNs: 2n ** 62n },
      sort: { field: "timestamp", descending: false },
      page: 1,
      pageSize: 100,
      fields: ["trace_unique_id"],
    });
    const version = (BigInt(Date.now()) * 1_000_000n).toString();
    const deleted = rows.map(({ environment, timestamp, unique_id, trace_unique_id }) =>
      JSON.stringify({ ...scope, environment, timestamp, unique_id, trace_unique_id, version, is_deleted: 1 }),
    );
    const ndjson = Buffer.from(`${deleted.join("\n")}\n`);
    await store.insert({ ndjson, rows: deleted.length, token: randomUUID(), table: "span_counts" });
  } finally {
    await store.close();
  }
}

test("counts everything again, and refuses while a server runs; deleted customers stay deleted", async () => {
  const trace = { trace_unique_id: "t1", log_type: "chat" };
  const logs = [
    { ...trace, span_unique_id: "root", log_type: "agent", cost: 0.5, total_tokens: 5, customer_identifier: "ann" },
    { ...trace, span_unique_id: "call", span_parent_id: "root", cost: 0.5, prompt_tokens: 3, completion_tokens: 2 },
    { trace_unique_id: "t2", span_unique_id: "root", customer_identifier: "gone" },
    { ...trace, trace_unique_id: "t2", span_unique_id: "call", span_parent_id: "root", cost: 1 },
  ];
  let server = await startServerProcess(folder.path);
  const figures = async () => {
    const summary = bodyOf(await server.prod.get(`/api/request-logs/summary/?${always}`));
    const ann = bodyOf(await server.prod.get(pathOf("ann")));
    return [summary["total_cost"], summary["total_tokens"], ann["total_cost"], ann["number_of_requests"]];
  };
  await server.prod.post("/api/request-logs/bulk/", { logs });
  await settle(server.prod);
  await server.prod.request("DELETE", pathOf("gone"));
  const counted = await figures();
  expect(counted).toEqual([1.5, 5, 0.5, 2]);
  organizationId = String(bodyOf(await server.prod.get(pathOf("ann")))["unique_organization_id"]);
  const refused = (await admin("usage", "recompute").catch((error: unknown) => error)) as Failure;
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("server")]);
  await server.kill("SIGTERM");

  await deleteCounts();
  server = await startServerProcess(folder.path);
  expect(await figures()).not.toEqual(counted);
  await server.kill("SIGTERM");

  expect(await admin("recompute")).toMatchObject({ traces: expect.any(Number) });
  server = await startServerProcess(folder.path);
  try {
    expect(await figures()).toEqual(counted);
    expect((await server.prod.get(pathOf("gone"))).status).toBe(404);
  } finally {
    await server.kill("SIGTERM");
  }
}, 120_000);
