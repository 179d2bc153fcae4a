import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, cpSync, existsSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  newDataDir,
  programEnvironment,
  programs,
  runAdminProcess,
  startServerProcess,
  type ServerProcess,
} from "../support/server-process.ts";
import { always, bodyOf, createSpan, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { testEnvironment, testKeys } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

const folders = [newDataDir(), newDataDir(), newDataDir()] as const;
const [own, backup, restored] = folders.map(({ path }) => path) as [string, string, string];
afterAll(() => Promise.all(folders.map((folder) => folder.remove())));

/** All spans of a customer by their id, without the time at which they were counted. */
async function spansOf(client: TestClient, group: string): Promise<Map<unknown, Row>> {
  const spans = new Map<unknown, Row>();
  for (let page = 1; ; page += 1) {
    const answer = await client.post(`/api/request-logs/list/?${always}&page_size=1000&page=${page}`, {
      filters: { customer_identifier: group },
    });
    const { results, next } = answer.json as ListAnswer;
    for (const row of results) spans.set(row["unique_id"], row);
    if (next === null) return spans;
  }
}

const settingsOf = async ({ prod }: ServerProcess) =>
  Promise.all(
    ["/api/providers/", "/api/evaluators/", "/api/webhooks/", "/api/model-prices/"].map(
      async (path) => (await prod.get(path)).json,
    ),
  );

describe("N11: a backup of a server that receives spans", () => {
  test("restored into an empty folder has every span, id, key and setting that existed when it began", async () => {
    const server = await startServerProcess(own);
    const { prod } = server;
    const lab = { provider: "my-lab", base_url: "https://llm.example.com/v1", api_key: "sk-lab-0123456789" };
    expect((await prod.post("/api/providers/", { ...lab, available_models: ["lab-1"] })).status).toBe(201);
    const hook = { url: "https://example.com/hook", name: "n", event_type: "trace_completed" };
    const webhook = bodyOf(await prod.post("/api/webhooks/", hook));
    const image = `data:image/png;base64,${Buffer.alloc(90_000, 7).toString("base64")}`;
    const media = await createSpan(prod, {
      customer_identifier: "c",
      input: [{ role: "user", content: [{ type: "image_url", image_url: { url: image } }] }],
    });

    // Before and after the beginning, so that inserts and merges continue meanwhile.
    const acknowledged: Row[] = [];
    let isWriting = true;
    const write = async (): Promise<void> => {
      for (let i = 0; isWriting; i += 1) {
        const logs = Array.from({ length: 20 }, (_, at) => ({
          customer_identifier: "c",
          trace_unique_id: `t${i}`,
          span_unique_id: `s${at}`,
          input: `question ${i} ${at}`,
          output: "x".repeat(1_000),
          cost: 0.5,
        }));
        const answer = await prod.post("/api/request-logs/bulk/", { logs });
        expect(answer.status).toBe(201);
        acknowledged.push(...logs.map((log) => ({ ...log, trace: i })));
      }
    };
    const writers = [write()];
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(500);
    const before = acknowledged.length;
    const output = await runAdminProcess(own, ["backup", backup]);
    isWriting = false;
    await Promise.all(writers);
    expect(output).toMatch(/stores +journal,control,spans/);
    expect(acknowledged.length).toBeGreaterThan(before);
    expect(existsSync(join(own, "spans", ".backup"))).toBe(false);
    await settle(prod);
    const original = await spansOf(prod, "c");
    const settings = await settingsOf(server);
    const secret = await prod.get(`/api/webhooks/${String(webhook["id"])}/?is_including_secrets=true`);
    await server.kill("SIGTERM");

    await runAdminProcess(restored, ["restore", backup]);
    expect(readdirSync(restored)).not.toContain("node.id");
    const again = await startServerProcess(restored);
    await settle(again.prod);
    const spans = await spansOf(again.prod, "c");
    expect(spans.size).toBeGreaterThan(before);
    for (const [id, row] of spans) expect(row).toEqual(original.get(id));
    const expected = new Set(
      [...spans.values()].map((row) => `${String(row["trace_unique_id"])} ${String(row["span_unique_id"])}`),
    );
    for (const log of acknowledged.slice(0, before)) {
      expect(expected).toContain(`${String(log["trace_unique_id"])} ${String(log["span_unique_id"])}`);
    }
    expect(await summarize(again.prod, { customer_identifier: "c" })).toMatchObject({
      number_of_requests: spans.size,
      total_cost: (spans.size - 1) * 0.5,
    });
    const path = /\/api\/media\/\w+\//.exec(JSON.stringify(await retrieveSpan(again.prod, media["unique_id"])))?.[0];
    const authorization = `Bearer ${testKeys.prod}`;
    const stored = await fetch(`${again.url}${path}`, { headers: { authorization } });
    expect((await stored.bytes()).length).toBe(90_000);
    expect(await settingsOf(again)).toEqual(settings);
    expect((await again.prod.get(`/api/webhooks/${String(webhook["id"])}/?is_including_secrets=true`)).json).toEqual(
      secret.json,
    );

    // Spans accepted during the backup may be in it without their remembered identity: a resend still makes one span.
    const last = acknowledged.at(-1)!;
    const { trace: _, ...log } = last;
    for (let times = 0; times < 2; times += 1) await createSpan(again.prod, log);
    await settle(again.prod);
    const found = await summarize(again.prod, {
      trace_unique_id: log["trace_unique_id"],
      span_unique_id: log["span_unique_id"],
    });
    expect(found).toMatchObject({ number_of_requests: 1, total_cost: 0.5 });
    await again.kill("SIGTERM");
  }, 120_000);

  test("leaves no usable data folder if the restore is killed, and can be restored again", async () => {
    const [target, blocked] = [newDataDir(), newDataDir()];
    cpSync(backup, blocked.path, { recursive: true });
    // A file whose read never ends.
    const endless = join(blocked.path, "spans", "endless");
    execFileSync("mkfifo", [endless]);
    const env = { ...programEnvironment(), ...testEnvironment(target.path) };
    const child = spawn(process.execPath, [...programs.admin, "restore", blocked.path], { env, stdio: "ignore" });
    let writer: number | undefined;
    const isRead = (): boolean => {
      try {
        writer = openSync(endless, constants.O_WRONLY | constants.O_NONBLOCK);
        return true;
      } catch {
        return false;
      }
    };
    await expect.poll(isRead, { timeout: 20_000, interval: 10 }).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    closeSync(writer!);
    for (const name of ["journal", "control.db", "spans", "secret.key"]) {
      expect(existsSync(join(target.path, name))).toBe(false);
    }
    await runAdminProcess(target.path, ["restore", backup]);
    expect(readdirSync(target.path).filter((name) => name.endsWith(".restoring"))).toEqual([]);
    await Promise.all([target.remove(), blocked.remove()]);
  });

  test("needs an empty target folder, and an incomplete backup is not restored", async () => {
    const empty = newDataDir();
    const run = (dataDir: string, ...command: string[]) => runAdminProcess(dataDir, command).catch(String);
    expect(await run(own, "backup", backup)).toContain("is not empty");
    expect(await run(own, "restore", backup)).toContain("already: restore into a new folder");
    expect(await run(empty.path, "backup", join(empty.path, "copy"))).toContain("There is no journal at");
    expect(await run(empty.path, "restore", join(empty.path, "none"))).toContain("There is no backup at");
    rmSync(join(backup, "backup.json"));
    expect(await run(empty.path, "restore", backup)).toContain("is not a complete backup");
    expect(readdirSync(empty.path)).toEqual([]);
    await empty.remove();
  });
});
