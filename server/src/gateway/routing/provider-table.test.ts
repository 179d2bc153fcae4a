import { describe, expect, test } from "vitest";
import { keylessProviders, openaiShaped } from "../providers/quirks.ts";
import { attemptsOf } from "./router.fixture.ts";

/** The request dialect for a server that an organization calls by its own name. */

async function quirksOf(baseUrl: string, provider = "my-lab"): Promise<unknown> {
  const world = { settings: [{ provider, baseUrl, availableModels: ["lab-1"] }] };
  const [attempt] = await attemptsOf(world, { model: "lab-1" });
  expect(attempt?.target).toMatchObject({ provider, baseUrl });
  return attempt?.quirks;
}

const vendors = Object.entries(openaiShaped).filter(
  ([name, { baseUrl }]) => typeof baseUrl === "string" && !keylessProviders.has(name),
);

describe("P2: an organization's own provider", () => {
  test.each(vendors)("at the host of %s gets requests in its dialect", async (_name, quirks) => {
    for (const provider of ["my-lab", "custom"]) expect(await quirksOf(String(quirks.baseUrl), provider)).toBe(quirks);
  });

  test.each<[string, string]>([
    ["azure", "https://lab.openai.azure.com/openai/v1"],
    ["databricks", "https://lab.cloud.databricks.com/serving-endpoints"],
    ["dashscope", "https://dashscope.aliyuncs.com/compatible-mode/v1"],
    ["moonshot", "https://API.moonshot.cn/v1"],
    ["zhipu", "https://open.bigmodel.cn:443/api/paas/v4"],
  ])("also at another host of %s: %s", async (name, url) => {
    expect(await quirksOf(url)).toBe(openaiShaped[name as keyof typeof openaiShaped]);
  });

  test.each([
    "https://llm.example.com/v1",
    "https://api.mistral.ai.example.com/v1",
    "https://openai.azure.com.example.com/v1",
    "https://notapi.mistral.ai/v1",
    "https://example.com/api.mistral.ai/v1",
    "http://127.0.0.1:11434/v1",
  ])("at %s gets requests unchanged", async (url) => {
    expect(await quirksOf(url)).toBe(openaiShaped.custom);
  });

  test("does not depend on the host if the setting names a vendor", async () => {
    expect(await quirksOf("https://api.mistral.ai/v1", "openai")).toBe(openaiShaped.openai);
  });
});
