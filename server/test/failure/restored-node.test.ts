import { cpSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { retrieveCustomer } from "../support/customers.ts";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { bodyOf, settle, summarize } from "../support/spans.ts";

describe.skipIf(postgresUrl === undefined)(`a node restored from a backup${postgresSkipReason}`, () => {
  const folders = [newDataDir(), newDataDir()] as const;
  const running: ServerProcess[] = [];
  let clickhouse: TestClickHouse;
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let receiver: Receiver;
  beforeAll(async () => {
    [clickhouse, database, receiver] = await Promise.all([
      startTestClickHouse(),
      createPostgresDatabase(),
      startReceiver(),
    ]);
  });
  afterAll(async () => {
    await Promise.all(running.map((node) => node.kill("SIGTERM")));
    await Promise.all([clickhouse.stop(), database.drop(), receiver.close(), ...folders.map((each) => each.remove())]);
  });

  test("stores the content of its journal again, beside the first node: nothing counts, costs or is delivered twice", async () => {
    const [own, copy] = [folders[0].path, folders[1].path];
    const settings = {
      SPANWAY_SPANS_URL: clickhouse.url,
      SPANWAY_CONTROL_URL: database.url.reveal(),
      SPANWAY_SECRET_KEY: "a secret that both nodes know",
      SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
    };
    receiver.answer("/logs", (_request, response) => response.writeHead(200).end());
    const first = await startServerProcess(own, settings);
    await first.prod.post("/api/webhooks/", { url: `${receiver.url}/logs`, name: "Logs", event_type: "request_log" });
    await clickhouse.setFaults({ refuse: "503" });
    const logs = Array.from({ length: 20 }, (_, i) => ({
      log_type: "chat",
      input: i,
      cost: 1,
      customer_identifier: "c",
    }));
    expect(bodyOf(await first.prod.post("/api/request-logs/bulk/", { logs }))["success_count"]).toBe(logs.length);
    await first.kill("SIGKILL");
    rmSync(copy, { recursive: true });
    cpSync(own, copy, { recursive: true });
    await clickhouse.setFaults({});

    const again = await startServerProcess(own, settings);
    running.push(again);
    const delivered = () => receiver.on("/logs").filter(({ json }) => json["customer_identifier"] === "c").length;
    await expect.poll(delivered, { timeout: 20_000 }).toBe(logs.length);
    const restored = await startServerProcess(copy, settings);
    running.push(restored);
    await settle(restored.prod);
    await settle(again.prod);
    for (const { prod } of running) {
      const summary = await summarize(prod, { customer_identifier: "c" });
      expect(summary).toMatchObject({ number_of_requests: 20, total_cost: 20 });
      expect(await retrieveCustomer(prod, "c")).toMatchObject({ number_of_requests: 20, total_cost: 20 });
    }
    expect(delivered()).toBe(logs.length);
  }, 90_000);
});
