import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const folder = newDataDir();
afterAll(() => folder.remove());

const roundMs = 500;
const rounds = 12;

describe.skipIf(postgresUrl === undefined)(`connections that Postgres drops${postgresSkipReason}`, () => {
  test("N1: a start waits for an unreachable Postgres, and retries if it drops connections", async () => {
    const [database, data] = [await createPostgresDatabase(), newDataDir()];
    const proxy = await startTcpProxy(database.url.reveal());
    proxy.disconnect();
    const starting = startServerProcess(data.path, { SPANWAY_CONTROL_URL: proxy.url });
    // At every step of the start: each drop is somewhat later.
    for (let round = 0; round < 12; round += 1) {
      await sleep(400);
      proxy.resume();
      await sleep(60 * round);
      proxy.disconnect();
    }
    proxy.resume();
    const server = await starting;
    try {
      expect(server.output()).toContain("the start begins again");
      expect((await server.prod.get("/api/webhooks/")).status).toBe(200);
    } finally {
      await server.kill("SIGTERM");
      await proxy.stop();
      await database.drop();
      await data.remove();
    }
  }, 90_000);

  test("N1: fail no read and no span, and never end the process", async () => {
    const database = await createPostgresDatabase();
    const server = await startServerProcess(folder.path, { SPANWAY_CONTROL_URL: database.url.reveal() });
    const admin = new Client({ connectionString: postgresUrl });
    await admin.connect();
    const name = new URL(database.url.reveal()).pathname.slice(1);
    const statuses: Record<string, number> = {};
    const accepted: string[] = [];
    let isOver = false;
    const traffic = async (worker: number) => {
      for (let n = 0; !isOver; n += 1) {
        const id = `${worker}-${n}`;
        const span = { customer_identifier: `customer ${id}`, custom_identifier: id };
        const answers = await Promise.all([
          server.prod.post("/api/request-logs/", span),
          server.prod.get("/api/webhooks/"),
          server.prod.post("/api/users/list/", {}),
        ]);
        if (answers[0].status === 201) accepted.push(id);
        for (const [index, { status }] of answers.entries()) {
          const what = `${["span", "webhooks", "customers"][index]} ${status}`;
          statuses[what] = (statuses[what] ?? 0) + 1;
        }
      }
    };
    try {
      const workers = [0, 1, 2, 3].map(traffic);
      for (let round = 0; round < rounds; round += 1) {
        await sleep(roundMs);
        await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
      }
      isOver = true;
      await Promise.all(workers);
      expect(server.child.exitCode).toBeNull();
      // Otherwise each node would have its own budgets.
      expect(server.output()).not.toContain("used as last known");
      expect(Object.keys(statuses).toSorted()).toEqual(["customers 200", "span 201", "webhooks 200"]);
      expect((await server.prod.get("/api/webhooks/")).status).toBe(200);
      const { count } = await server.prod.waitForSpans(accepted.length);
      expect(count).toBe(accepted.length);
    } finally {
      isOver = true;
      await admin.end();
      await server.kill("SIGTERM");
      await database.drop();
    }
  }, 60_000);
});
