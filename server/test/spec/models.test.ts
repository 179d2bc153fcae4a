import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type TestClient } from "../support/test-client.ts";

/** GET /api/models: the models that a key can call. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ GROQ_API_KEY: "gsk-of-the-instance" });
});
afterAll(() => app.stop());

type Model = { id: string; object: string; created: number; owned_by: string };
const key = "sk-live-0123456789abcdef";

async function ids(client: TestClient, headers: Record<string, string> = {}): Promise<string[]> {
  const { json } = await client.request("GET", "/api/models", undefined, headers);
  return (json as { data: Model[] }).data.map(({ id }) => id);
}

describe("the list", () => {
  test("has OpenAI's form, on every path that its clients use", async () => {
    for (const path of ["/api/models", "/api/models/", "/v1/models", "/models"]) {
      const answer = await app.prod.get(path);
      expect(answer.status).toBe(200);
      const list = answer.json as { object: string; data: Model[] };
      expect(list.object).toBe("list");
      expect(list.data).toContainEqual({ id: "spanway/echo", object: "model", created: 0, owned_by: "spanway" });
      expect(list.data).toContainEqual(
        expect.objectContaining({ id: "groq/llama-3.3-70b-versatile", owned_by: "groq" }),
      );
    }
  });

  test("contains exactly the models with a credential", async () => {
    const { prod } = await app.newOrganization();
    expect((await ids(prod)).filter((id) => !id.startsWith("groq/"))).toEqual(["spanway/echo"]);
    await prod.post("/api/providers/", { provider: "openai", api_key: key, exclude_models: ["gpt-4o-mini"] });
    const reached = await ids(prod);
    expect(reached).toContain("openai/gpt-4o");
    expect(reached).not.toContain("openai/gpt-4o-mini");
    expect(await ids(app.prod)).not.toContain("openai/gpt-4o");
  });

  test("contains the models of a setting, also for a custom server", async () => {
    const { prod } = await app.newOrganization();
    const own = {
      provider: "my-vllm",
      base_url: "https://vllm.example.com/v1",
      available_models: ["llama", "my-vllm/qwen"],
    };
    await prod.post("/api/providers/", own);
    expect((await ids(prod)).filter((id) => id.startsWith("my-vllm"))).toEqual(["my-vllm/llama", "my-vllm/qwen"]);
  });

  test("has the models that the environment of the key may call", async () => {
    const { prod, test: testing } = await app.newOrganization();
    await prod.post("/api/providers/", { provider: "mistral", api_key: key, environment: "prod" });
    const beta = { "x-svc-beta": "env-scoped-integrations-2026-03-28" };
    const mistrals = async (client: TestClient, headers?: Record<string, string>) =>
      (await ids(client, headers)).filter((id) => id.startsWith("mistral/")).length;
    expect(await mistrals(prod, beta)).toBeGreaterThan(0);
    expect(await mistrals(testing)).toBe(0);
    expect(await mistrals(testing, beta)).toBe(0);
  });

  test("needs a key, and errors have OpenAI's shape", async () => {
    const answer = await createClient(app.url).get("/v1/models");
    expect(answer).toMatchObject({ status: 401, json: { error: { message: expect.any(String), param: null } } });
  });
});

describe("one model", () => {
  test.each([
    "/api/models/groq%2Fllama-3.3-70b-versatile",
    "/api/models/groq/llama-3.3-70b-versatile",
    "/v1/models/llama-3.3-70b-versatile",
    "/models/groq/llama-3.3-70b-versatile/",
  ])("%s", async (path) => {
    expect(await app.prod.get(path)).toMatchObject({ status: 200, json: { id: "groq/llama-3.3-70b-versatile" } });
  });

  test("without a credential is 404", async () => {
    const answer = await app.prod.get("/api/models/openai/gpt-4o");
    expect(answer).toMatchObject({ status: 404, json: { error: { code: "not_found" } } });
  });
});

type Public = {
  model_name: string;
  input_cost: number | null;
  output_cost: number | null;
  cost_varies: boolean;
  provider: { provider_id: string };
};

async function catalogue(): Promise<Public[]> {
  const { json } = await createClient(app.url).get("/api/models/public");
  return (json as { models: Public[] }).models;
}

test("the catalogue is public, with prices per million tokens", async () => {
  const answer = await createClient(app.url).get("/api/models/public");
  expect(answer.status).toBe(200);
  const { models } = answer.json as { models: Array<Record<string, unknown>> };
  const openai = { provider: { provider_name: "openai", provider_id: "openai" } };
  const gpt = { model_name: "gpt-4o", max_context_window: 128_000, input_cost: 2.5, output_cost: 10, ...openai };
  expect(models).toContainEqual({ ...gpt, cache_read_cost: 1.25, cache_write_cost: null, cost_varies: false });
});

test.each([
  ["a price by the length of the prompt", "openai", "gpt-5.4", true],
  ["a price that changed at a date", "openai", "o3", false],
  ["both", "openai", "gpt-5.6-sol", true],
  ["a price by the hour", "deepseek", "deepseek-v4-flash", true],
])(
  "the catalogue states %s as it is now, as the receipt of a short call does",
  async (_what, provider, model, varies) => {
    const models = await catalogue();
    const listed = models.find((one) => one.model_name === model && one.provider.provider_id === provider);
    expect(listed?.cost_varies).toBe(varies);
    const span = { model, provider_id: provider, prompt_tokens: 1_000, completion_tokens: 1_000 };
    const { json } = await app.prod.post("/api/request-logs/create/", span);
    const stored = await app.prod.get(`/api/request-logs/${(json as { unique_id: string }).unique_id}/`);
    const costs = stored.json as { prompt_cost: number; completion_cost: number; cost: number };
    expect(costs.cost).toBeCloseTo(((listed?.input_cost ?? NaN) + (listed?.output_cost ?? NaN)) / 1_000, 9);
  },
);

test("models that are free cost 0", async () => {
  const free = (await catalogue()).filter(({ model_name }) => model_name.endsWith(":free"));
  expect(free.length).toBeGreaterThan(50);
  for (const model of free) expect(model).toMatchObject({ input_cost: 0, output_cost: 0, cost_varies: false });
});

describe("the providers behind them", () => {
  type Known = { provider: string; is_built_in: boolean; credential_source: string | null };
  const known = async (client: TestClient): Promise<Known[]> =>
    ((await client.get("/api/providers/known/")).json as { results: Known[] }).results;
  const sources = async (client: TestClient) =>
    Object.fromEntries((await known(client)).map(({ provider, credential_source }) => [provider, credential_source]));

  test("state the source of the credential: settings before the server's", async () => {
    const { prod, test: testing } = await app.newOrganization();
    expect(await sources(prod)).toMatchObject({ groq: "server", openai: null, ollama: null });
    await prod.post("/api/providers/", { provider: "groq", api_key: key });
    await prod.post("/api/providers/", { provider: "openai", api_key: key, is_enabled: false });
    await prod.post("/api/providers/", { provider: "my-lab", base_url: "https://lab.example.com/v1" });
    expect(await sources(prod)).toMatchObject({ groq: "settings", openai: null, "my-lab": "settings" });
    expect(await sources(testing)).toMatchObject({ groq: "server" });
    expect(await sources(testing)).not.toHaveProperty("my-lab");
    expect(await sources(app.prod)).toMatchObject({ groq: "server" });
    expect(await sources(app.prod)).not.toHaveProperty("my-lab");
  });

  test("state their URL and the members of a credential, but show no credential", async () => {
    const { prod } = await app.newOrganization();
    await prod.post("/api/providers/", { provider: "my-lab", base_url: "https://lab.example.com/v1", api_key: key });
    const text = JSON.stringify(await known(prod));
    for (const secret of [key, "gsk-of-the-instance", "lab.example.com"]) expect(text).not.toContain(secret);
    const about = async (name: string) => (await known(prod)).find(({ provider }) => provider === name);
    expect(await about("groq")).toEqual({
      provider: "groq",
      is_built_in: true,
      base_url: "https://api.groq.com/openai/v1",
      credential_source: "server",
      server_variable: "GROQ_API_KEY",
      is_key_optional: false,
      credential_members: ["api_key", "base_url"],
    });
    expect(await about("azure")).toMatchObject({
      base_url: null,
      credential_members: ["api_key", "base_url", "api_version"],
    });
    expect(await about("ollama")).toMatchObject({ server_variable: "OLLAMA_BASE_URL", is_key_optional: true });
    expect(await about("my-lab")).toMatchObject({ is_built_in: false, base_url: null, server_variable: null });
    expect(await about("spanway")).toBeUndefined();
  });

  test("are listed for every key, like models, and not without a key", async () => {
    const admin = await app.login();
    const made = await admin.post("/api/api-keys/", { name: "r", environment: "prod", permissions: ["scores:read"] });
    const reader = createClient(app.url, (made.json as { key: string }).key);
    expect(await sources(reader)).toMatchObject({ groq: "server" });
    expect(await createClient(app.url).get("/api/providers/known/")).toMatchObject({ status: 401 });
  });
});
