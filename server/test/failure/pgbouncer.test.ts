import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestClickHouse } from "../support/clickhouse-http-server.ts";
import { completion, question } from "../support/chat.ts";
import { retrieveCustomer } from "../support/customers.ts";
import { hasPgBouncer, pgBouncerSkipReason, startPgBouncer, type PgBouncer } from "../support/pgbouncer.ts";
import { createPostgresDatabase } from "../support/postgres.ts";
import { answers, startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { bodyOf } from "../support/spans.ts";
import { testAdmin } from "../support/test-app.ts";
import { createClient } from "../support/test-client.ts";

/** PgBouncer in transaction mode between nodes and Postgres. Every control store is tested behind it too: control-stores.test.ts. */
describe.skipIf(!hasPgBouncer)(`nodes behind PgBouncer${pgBouncerSkipReason}`, () => {
  let bouncer: PgBouncer;
  let upstream: ScriptedUpstream;
  let nodes: [ServerProcess, ServerProcess];
  const cleanup: Array<() => Promise<unknown>> = [];
  beforeAll(async () => {
    bouncer = await startPgBouncer();
    cleanup.push(() => bouncer.stop());
    upstream = await startScriptedUpstream();
    cleanup.push(() => upstream.stop());
    const [clickhouse, database] = [await startTestClickHouse(), await createPostgresDatabase()];
    cleanup.push(() => database.drop());
    cleanup.push(() => clickhouse.stop());
    const start = async () => {
      const folder = newDataDir();
      cleanup.push(() => folder.remove());
      const node = await startServerProcess(folder.path, {
        SPANWAY_SPANS_URL: clickhouse.url,
        SPANWAY_CONTROL_URL: bouncer.through(database.url.reveal()),
        SPANWAY_SECRET_KEY: "a secret that both nodes know",
        SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
        OPENAI_API_KEY: "sk-upstream-0123456789",
        OPENAI_BASE_URL: `${upstream.url}/v1`,
      });
      cleanup.push(() => node.kill("SIGKILL"));
      return node;
    };
    // On an empty database: one node migrates, the other waits for it.
    nodes = await Promise.all([start(), start()]);
  }, 90_000);
  afterAll(async () => {
    for (const undo of cleanup.reverse()) await undo();
  });

  const both = <T>(send: (node: ServerProcess) => Promise<T>) => Promise.all(nodes.map(send));
  const metric = async (node: ServerProcess, name: string) => {
    const { text } = await node.prod.get("/metrics");
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  };

  test("share keys, spans and leases", async () => {
    const [one, other] = nodes;
    const { access } = bodyOf(await createClient(one.url).post("/api/auth/login/", testAdmin));
    const admin = createClient(one.url, String(access));
    const made = await admin.post("/api/api-keys/", { name: "ours", environment: "prod" });
    const client = createClient(other.url, String(bodyOf(made)["key"]));
    expect((await client.post("/api/request-logs/", { custom_identifier: "bounced" })).status).toBe(201);
    expect((await one.prod.waitForSpans(1)).count).toBe(1);
    const leads = () => both((node) => metric(node, "spanway_leader"));
    await expect.poll(async () => (await leads()).toSorted((a, b) => a - b), { timeout: 30_000 }).toEqual([0, 1]);
  }, 60_000);

  test("together spend a budget once", async () => {
    const outputTokens = 399;
    const callCost = outputTokens * 1e-5 + 2.5e-6;
    upstream.script(answers(200, completion({ usage: { prompt_tokens: 1, completion_tokens: outputTokens } })));
    const call = async (node: ServerProcess) => {
      const answer = await node.prod.post("/api/chat/completions", {
        model: "gpt-4o",
        messages: [question],
        max_tokens: outputTokens,
        customer_identifier: "bounced",
        customer_params: { customer_identifier: "bounced", total_budget: 5.5 * callCost },
      });
      return answer.status;
    };
    const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => call(nodes[n % 2 === 0 ? 0 : 1])));
    // The last call uses the rest if no other is in progress.
    for (let refused = 0; refused < 2;) {
      const more = await both(call);
      statuses.push(...more);
      if (more.every((status) => status === 429)) refused += 1;
    }
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200)).toHaveLength(6);
    const usage = async () => (await retrieveCustomer(nodes[1].prod, "bounced"))["total_usage"];
    await expect.poll(usage, { timeout: 10_000 }).toBeCloseTo(6 * callCost, 9);
  }, 60_000);

  test("continue when PgBouncer is killed and restarted under traffic", async () => {
    let isOver = false;
    const statuses = new Set<number>();
    const traffic = async (node: ServerProcess) => {
      while (!isOver) {
        const hooks = await node.prod.get("/api/webhooks/");
        const span = await node.prod.post("/api/request-logs/", { customer_identifier: "bounced" });
        for (const { status } of [hooks, span]) statuses.add(status);
      }
    };
    const running = both(traffic);
    for (let round = 0; round < 5; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await bouncer.restart();
    }
    isOver = true;
    await running;
    expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
    expect(nodes.map(({ child }) => child.exitCode)).toEqual([null, null]);
    await expect.poll(() => both(async (node) => (await node.prod.get("/api/webhooks/")).status)).toEqual([200, 200]);
  }, 60_000);
});

test.skipIf(!hasPgBouncer)(
  `a PgBouncer that refuses connection parameters gets its own error, with the setting to change${pgBouncerSkipReason}`,
  async () => {
    const bouncer = await startPgBouncer({ ignore_startup_parameters: "extra_float_digits" });
    const [database, folder] = [await createPostgresDatabase(), newDataDir()];
    try {
      const start = startServerProcess(folder.path, { SPANWAY_CONTROL_URL: bouncer.through(database.url.reveal()) });
      await expect(start).rejects.toThrow(/ignore_startup_parameters = statement_timeout,/);
    } finally {
      await bouncer.stop();
      await database.drop();
      await folder.remove();
    }
  },
  30_000,
);
