import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type TestClient } from "../support/test-client.ts";

/** GET /api/models: what a key's calls can reach. */

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
  test("is OpenAI's, on every path that its clients use", async () => {
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

  test("holds what there is a credential for, and nothing else", async () => {
    const { prod } = await app.newOrganization();
    expect((await ids(prod)).filter((id) => !id.startsWith("groq/"))).toEqual(["spanway/echo"]);
    await prod.post("/api/providers/", { provider: "openai", api_key: key, exclude_models: ["gpt-4o-mini"] });
    const reached = await ids(prod);
    expect(reached).toContain("openai/gpt-4o");
    expect(reached).not.toContain("openai/gpt-4o-mini");
    expect(await ids(app.prod)).not.toContain("openai/gpt-4o");
  });

  test("holds what a setting lists, also of a server of one's own", async () => {
    const { prod } = await app.newOrganization();
    const own = {
      provider: "my-vllm",
      base_url: "https://vllm.example.com/v1",
      available_models: ["llama", "my-vllm/qwen"],
    };
    await prod.post("/api/providers/", own);
    expect((await ids(prod)).filter((id) => id.startsWith("my-vllm"))).toEqual(["my-vllm/llama", "my-vllm/qwen"]);
  });

  test("has what the environment of the key may call", async () => {
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

  test("that is out of reach is 404", async () => {
    const answer = await app.prod.get("/api/models/openai/gpt-4o");
    expect(answer).toMatchObject({ status: 404, json: { error: { code: "not_found" } } });
  });
});

test("the catalogue is public, with prices per million tokens", async () => {
  const answer = await createClient(app.url).get("/api/models/public");
  expect(answer.status).toBe(200);
  const { models } = answer.json as { models: Array<Record<string, unknown>> };
  const gpt = { model_name: "gpt-4o", max_context_window: 128_000, input_cost: 2.5, output_cost: 10 };
  expect(models).toContainEqual({ ...gpt, provider: { provider_name: "openai", provider_id: "openai" } });
});
