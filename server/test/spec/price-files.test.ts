import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runAdmin } from "../../src/admin/run-admin.ts";
import { createPasswords } from "../../src/auth/passwords.ts";
import { createControlStores } from "../../src/storage/control/control-stores.ts";
import { openControlDatabase } from "../../src/storage/control/open-control-database.ts";
import { roundTrip } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Row, type TestClient } from "../support/test-client.ts";

/** `npm run admin -- prices …` beside a running server: the operator's prices apply to all organizations. */

const folder = mkdtempSync(join(tmpdir(), "spanway-prices-"));
const control = join(folder, "control.db");
let app: TestApp;
/** The admin of another organization. */
let foreign: TestClient;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_CONTROL_URL: `sqlite:${control}` });
  foreign = await loginElsewhere();
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const never = () => Promise.reject(new Error("opened a store for nothing"));

/** On a separate connection, like a separate process. */
const run = (...words: string[]) =>
  runAdmin(words, async () => {
    const database = openControlDatabase({ kind: "sqlite", path: control });
    const context = {
      stores: createControlStores(database),
      passwords: createPasswords(),
      nowMs: Date.now,
      withQuarantine: never,
      recomputeUsage: never,
      acceptSecretKey: never,
      listUnpriced: never,
    };
    return { context, close: database.close };
  });

const admin = async (...words: string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await run(...words, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as unknown;
};

const used = { prompt_tokens: 1_000_000, completion_tokens: 0 };
const priced = async (model: string, provider_id = "") => await roundTrip(app.prod, { ...used, model, provider_id });
const costSoon = async (model: string, provider_id: string, cost: number | null) =>
  await expect
    .poll(async () => (await priced(model, provider_id))["cost"], { timeout: 5_000, interval: 300 })
    .toBe(cost);

/** The admin of an organization of its own. */
async function loginElsewhere(): Promise<TestClient> {
  const who = { email: "other@example.com", password: "a long enough password" };
  const organization = { name: "Other", admin_email: who.email, admin_password: who.password };
  expect((await (await app.login()).post("/api/organizations/", organization)).status).toBe(201);
  const { access } = (await createClient(app.url).post("/api/auth/login/", who)).json as { access: string };
  return createClient(app.url, access);
}

const written = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const many = (count: number) => Array.from({ length: count }, (_, at) => at);
/** In LiteLLM's format. */
const liteLlm = (usd: number, count = 60) => ({
  sample_spec: { litellm_provider: "one of them", input_cost_per_token: 0 },
  "openai/new-1": { litellm_provider: "openai", input_cost_per_token: usd / 1e6, output_cost_per_token: 1e-5 },
  ...Object.fromEntries(
    many(count).map((at) => [
      `m${at}`,
      { litellm_provider: "x", input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 },
    ]),
  ),
});
/** In genai-prices' format. */
const genAi = (usd: number) => [
  {
    id: "openai",
    models: [
      { id: "new-2", match: { starts_with: "new-2" }, prices: { input_mtok: usd, output_mtok: 1 } },
      ...many(60).map((at) => ({
        id: `m${at}`,
        match: { equals: `m${at}` },
        prices: { input_mtok: 1, output_mtok: 1 },
      })),
    ],
  },
];

describe("M14: a newer price file", () => {
  test("is loaded beside the server, takes precedence over the built-in table, and is removed again", async () => {
    expect((await priced("new-1", "openai"))["cost"]).toBeNull();
    const first = await admin("prices", "update", written("a.json", liteLlm(2)), "--date", "2026-11-01");
    expect(first).toMatchObject({ name: "litellm@2026-11-01", format: "litellm", models: 61 });
    await costSoon("new-1", "openai", 2);
    expect((await priced("new-1", "openai"))["cost_details"]).toMatchObject({
      source: { kind: "price_table", name: "litellm@2026-11-01 openai/new-1", date: "2026-11-01" },
    });
    expect((await priced("gpt-4o"))["cost"]).toBe(2.5);

    await admin("prices", "update", written("b.json", liteLlm(3)));
    await costSoon("new-1", "openai", 3);
    await admin("prices", "update", written("c.json", genAi(7)));
    await costSoon("new-2-mini", "openai", 7);
    expect((await priced("new-1", "openai"))["cost"]).toBe(3);
    expect(await admin("prices", "files")).toMatchObject([
      { format: "genai-prices" },
      { format: "litellm" },
      { format: "litellm" },
    ]);

    await admin("prices", "revert");
    await costSoon("new-2-mini", "openai", null);
    await admin("prices", "revert");
    await costSoon("new-1", "openai", 2);
    await admin("prices", "revert");
    await costSoon("new-1", "openai", null);
    expect((await run("prices", "revert")).stderr).toMatch(/No price file is loaded/);
  });

  test("that is invalid is refused, and nothing changes", async () => {
    const failure = await run("prices", "update", written("bad.json", { name: "spanway" }));
    expect(failure).toMatchObject({ code: 1, stderr: expect.stringMatching(/neither .* nor one of LiteLLM/) });
    expect(await admin("prices", "files")).toEqual([]);
  });
});

describe("M14: a price for all organizations", () => {
  test("applies within seconds, after an organization's own price, and is audited", async () => {
    const rates = '{"input":4,"output":8}';
    const made = (await admin("prices", "set", "--model", "shared-*", "--rates", rates)) as Row;
    await costSoon("shared-1", "", 4);
    expect((await priced("shared-1"))["cost_details"]).toMatchObject({
      source: { kind: "instance_price", name: "shared-*", date: new Date().toISOString().slice(0, 10) },
    });
    expect(await admin("prices", "list")).toMatchObject([{ id: made["id"], model: "shared-*", rates }]);
    await app.prod.post("/api/model-prices/", { model: "shared-1", rates: { input: 1, output: 1 } });
    expect([(await priced("shared-1"))["cost"], (await priced("shared-2"))["cost"]]).toEqual([1, 4]);
    expect((await app.prod.request("DELETE", `/api/model-prices/${String(made["id"])}/`)).status).toBe(404);

    const audit = (await (await app.login()).get("/api/audit-log/")).json as { results: Row[] };
    expect(audit.results).toContainEqual(
      expect.objectContaining({ action: "create_model_price", target: made["id"], actor_type: "operator" }),
    );
    await admin("prices", "delete", "--id", String(made["id"]));
    await costSoon("shared-2", "", null);
  });

  test("is created, read, changed and deleted by an instance admin over HTTP, in every organization's audit log", async () => {
    const [boss, other] = [await app.login(), await app.newOrganization()];
    const all = "?scope=instance";
    const price = { model: "everyones-1", provider: "", rates: { input: 4, output: 8 } };
    const made = (await boss.post(`/api/model-prices/${all}`, price)).json as Row;
    const path = `/api/model-prices/${String(made["id"])}/`;
    const costs = async () => {
      const spans = [app.prod, other.prod].map((client) => roundTrip(client, { ...used, model: "everyones-1" }));
      return (await Promise.all(spans)).map(({ cost }) => cost);
    };
    expect(await costs()).toEqual([4, 4]);
    expect((await boss.get(path + all)).json).toEqual(made);
    expect((await boss.get(`/api/model-prices/${all}`)).json).toMatchObject({ count: 1, results: [made] });
    expect((await boss.get(path)).status).toBe(404);
    expect((await boss.get("/api/model-prices/")).json).not.toMatchObject({ results: [{ id: made["id"] }] });

    expect((await boss.request("PATCH", path + all, { rates: { input: 2, output: 8 } })).status).toBe(200);
    expect(await costs()).toEqual([2, 2]);
    expect((await boss.request("DELETE", path + all)).status).toBe(204);
    expect(await costs()).toEqual([null, null]);

    for (const reader of [boss, foreign]) {
      const { results } = (await reader.get("/api/audit-log/")).json as { results: Row[] };
      const entries = results.filter(({ target }) => target === made["id"]);
      expect(entries.map(({ action }) => action)).toEqual([
        "delete_model_price",
        "update_model_price",
        "create_model_price",
      ]);
      const isOwn = reader === boss;
      const named = entries.filter(({ actor_id, ip }) => actor_id !== null && ip !== null);
      expect(named).toHaveLength(isOwn ? 3 : 0);
      expect(JSON.stringify(entries).includes("@")).toBe(isOwn);
    }
  });

  test("is neither read nor changed over HTTP by a key, nor by a person who is not an instance admin", async () => {
    const made = (await admin("prices", "set", "--model", "closed-1", "--rates", '{"input":1}')) as Row;
    const path = `/api/model-prices/${String(made["id"])}/?scope=instance`;
    const price = { model: "closed-2", rates: { input: 1 } };
    for (const client of [app.prod, app.test, foreign]) {
      const answers = [
        await client.post("/api/model-prices/?scope=instance", price),
        await client.get("/api/model-prices/?scope=instance"),
        await client.get(path),
        await client.request("PATCH", path, { rates: { input: 0 } }),
        await client.request("DELETE", path),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    }
    expect((await app.prod.get("/api/model-prices/?scope=all")).status).toBe(400);
    expect(await admin("prices", "list")).toMatchObject([{ id: made["id"], rates: '{"input":1}' }]);
    await admin("prices", "delete", "--id", String(made["id"]));
  });
});
