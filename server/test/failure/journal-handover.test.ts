import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newIdentity } from "../../src/domain/identity.ts";
import { writeCall } from "../../src/ingest/accept/recorded-call.ts";
import { encodeFrame } from "../../src/storage/journal/call-spool.ts";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { newDataDir, runAdminProcess, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { always, bodyOf, settle, summarize } from "../support/spans.ts";

describe.skipIf(postgresUrl === undefined)(`N9: the journal of a node that never returns${postgresSkipReason}`, () => {
  const folders = [newDataDir(), newDataDir(), newDataDir()] as const;
  const [own, adopted, drained] = folders.map(({ path }) => path) as [string, string, string];
  let [clickhouse, database, receiver]: [
    TestClickHouse?,
    Awaited<ReturnType<typeof createPostgresDatabase>>?,
    Receiver?,
  ] = [];
  let settings: Record<string, string>;
  let node: ServerProcess;
  beforeAll(async () => {
    [clickhouse, database, receiver] = await Promise.all([
      startTestClickHouse(),
      createPostgresDatabase(),
      startReceiver(),
    ]);
    receiver.answer("/logs", (_request, response) => response.writeHead(200).end());
    settings = {
      SPANWAY_SPANS_URL: clickhouse.url,
      SPANWAY_CONTROL_URL: database.url.reveal(),
      SPANWAY_SECRET_KEY: "a secret that all nodes know",
      SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
      SPANWAY_ORGANIZATION_ID: "org_left",
    };
    node = await startServerProcess(own, settings);
    const hook = { url: `${receiver.url}/logs`, name: "Logs", event_type: "request_log" };
    bodyOf(await node.prod.post("/api/webhooks/", hook));
  }, 60_000);
  afterAll(async () => {
    await node.kill("SIGTERM");
    await Promise.all([
      clickhouse?.stop(),
      database?.drop(),
      receiver?.close(),
      ...folders.map((each) => each.remove()),
    ]);
  });

  /**
   * 20 spans and two calls, one recorded by version 0.1, that a node had accepted and not stored when it was killed; and spans of a trace
   * that was deleted afterwards.
   */
  async function leave(folder: string, customer: string): Promise<void> {
    const dying = await startServerProcess(folder, settings);
    const trace = { trace_unique_id: `deleted ${customer}`, customer_identifier: customer };
    await node.prod.post("/api/request-logs/", { ...trace, span_unique_id: "1" });
    await settle(node.prod);
    await clickhouse!.setFaults({ refuse: "503" });
    const logs = Array.from({ length: 20 }, (_, i) => ({ customer_identifier: customer, input: i, cost: 1 }));
    const answer = await dying.prod.post("/api/request-logs/bulk/", {
      logs: [...logs, { ...trace, span_unique_id: "2" }],
    });
    expect(bodyOf(answer)["success_count"]).toBe(21);
    expect(await runAdminProcess(own, ["journal", "adopt", folder], settings).catch(String)).toContain(
      "Stop the server first",
    );
    await dying.kill("SIGKILL");
    await clickhouse!.setFaults({});
    const call = {
      organization_id: "org_left",
      environment: "prod",
      timestamp: "2026-01-01 00:00:00.000000000",
      unique_id: randomUUID(),
      version: "1",
      log_type: "chat",
      cost: 1,
      customer_identifier: customer,
      received_at: "2026-01-01 00:00:00.000000000",
    };
    mkdirSync(join(folder, "calls"), { recursive: true });
    const origin = {
      organization_id: "org_left",
      environment: "prod",
      organization_key_id: "key",
      organization_key_name: "Key",
      log_method: "gateway",
    } as const;
    const body = { customer_identifier: customer, cost: 1, timestamp: "2026-01-02T00:00:00Z" };
    const record = writeCall({ body, origin, identity: newIdentity(), receivedNs: BigInt(Date.now()) * 1_000_000n });
    const frames = [JSON.stringify(call), record].map((text) => Buffer.from(encodeFrame(text, Buffer.alloc(0))));
    writeFileSync(join(folder, "calls", "0"), Buffer.concat(frames));
    const deletion = await node.prod.request(
      "DELETE",
      `/api/traces/${encodeURIComponent(trace.trace_unique_id)}/?${always}`,
    );
    expect(deletion.status).toBe(200);
  }

  const storedOf = (customer: string) => summarize(node.prod, { customer_identifier: customer });
  const deliveredOf = (customer: string) => {
    const events = receiver!.on("/logs").filter(({ json }) => json["customer_identifier"] === customer);
    return new Set(events.map(({ json }) => json["unique_id"])).size;
  };

  test("is adopted by a running node: its spans are stored and delivered once, also when it is adopted twice", async () => {
    await leave(adopted, "a");
    const adopt = () => runAdminProcess(own, ["journal", "adopt", adopted], settings);
    expect(await adopt()).toMatch(/entries +[1-9]/);
    await expect.poll(async () => (await storedOf("a"))["number_of_requests"], { timeout: 20_000 }).toBe(22);
    expect(await adopt()).toMatch(/entries +0/);
    // As if the first adoption had died before it renamed the journal.
    for (const name of ["journal", "calls"])
      cpSync(join(adopted, `${name}-adopted`), join(adopted, name), { recursive: true });
    expect(await adopt().catch(String)).toMatch(/entries +[1-9]/);
    await expect
      .poll(() => node.output().match(/took over the journal of another node/g)?.length, { timeout: 20_000 })
      .toBe(2);
    await settle(node.prod);
    expect(await storedOf("a")).toMatchObject({ number_of_requests: 22, total_cost: 22 });
    await expect.poll(() => deliveredOf("a"), { timeout: 20_000 }).toBe(23);
    expect(await runAdminProcess(own, ["journal", "adopt", own], settings).catch(String)).toContain(
      "is the data folder of this node",
    );
  }, 90_000);

  test("is drained in its folder: its spans are stored and delivered once, also when it is drained twice", async () => {
    await leave(drained, "d");
    const drain = () => runAdminProcess(own, ["journal", "drain", drained], settings);
    expect(await runAdminProcess(own, ["journal", "drain", own], settings).catch(String)).toContain(
      "Another Spanway process uses",
    );
    expect(await drain()).toMatch(/rows +2\d/);
    await settle(node.prod);
    expect(await storedOf("d")).toMatchObject({ number_of_requests: 22, total_cost: 22 });
    expect(await drain()).toMatch(/rows +0/);
    expect(await storedOf("d")).toMatchObject({ number_of_requests: 22, total_cost: 22 });
    await expect.poll(() => deliveredOf("d"), { timeout: 20_000 }).toBe(23);
  }, 90_000);
});
