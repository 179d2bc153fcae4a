import { describe, expect, test } from "vitest";
import type { ServiceError } from "../../domain/errors.ts";
import { attemptsOf, everybody, placesOf, type Call, type World } from "./router.fixture.ts";

const llama = "meta-llama/Llama-3.3-70B-Instruct-Turbo";

describe("which provider serves a model if every provider has a key", () => {
  test.each<[model: string, place: string]>([
    ["gpt-4o", "openai gpt-4o"],
    ["gpt-99-preview", "openai gpt-99-preview"],
    ["o3-mini", "openai o3-mini"],
    ["text-embedding-3-small", "openai text-embedding-3-small"],
    ["whisper-1", "openai whisper-1"],
    ["claude-sonnet-4-5", "anthropic claude-sonnet-4-5"],
    ["claude-99", "anthropic claude-99"],
    ["gemini-2.5-pro", "gemini gemini-2.5-pro"],
    ["mistral-large-latest", "mistral mistral-large-latest"],
    ["deepseek-chat", "deepseek deepseek-chat"],
    ["grok-4", "xai grok-4"],
    ["sonar-pro", "perplexity sonar-pro"],
    ["llama-3.3-70b-versatile", "groq llama-3.3-70b-versatile"],
    ["anthropic.claude-3-5-sonnet-20241022-v2:0", "bedrock anthropic.claude-3-5-sonnet-20241022-v2:0"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    [llama, `together ${llama}`],
    ["openai/gpt-4o", "openai gpt-4o"],
    ["OpenAI/gpt-4o", "openai gpt-4o"],
    ["openai/my-fine-tune", "openai my-fine-tune"],
    ["azure/my-deployment", "azure my-deployment"],
    ["vertex_ai/gemini-2.5-pro", "gemini gemini-2.5-pro"],
    ["bedrock/anthropic.claude-3-haiku-20240307-v1:0", "bedrock anthropic.claude-3-haiku-20240307-v1:0"],
    ["openrouter/anthropic/claude-sonnet-4.5", "openrouter anthropic/claude-sonnet-4.5"],
    [`together_ai/${llama}`, `together ${llama}`],
    ["groq/openai/gpt-oss-120b", "groq openai/gpt-oss-120b"],
    ["fireworks/accounts/fireworks/models/x", "fireworks accounts/fireworks/models/x"],
    ["accounts/fireworks/models/x", "fireworks accounts/fireworks/models/x"],
    ["ollama/llama3:8b", "ollama llama3:8b"],
    ["spanway/echo", "spanway echo"],
  ])("%s: %s", async (model, place) => {
    expect(placesOf(await attemptsOf(everybody, { model }))).toEqual([place]);
  });
});

describe("several providers for one model", () => {
  test.each<[what: string, world: World, place: string]>([
    ["the maker comes first", { env: { azure: "https://a.example.com", openai: undefined } }, "openai gpt-4o"],
    [
      "a reseller serves it if the maker of the model has no key",
      { env: { azure: "https://a.example.com" } },
      "azure gpt-4o",
    ],
    [
      "a setting that lists the model comes before all",
      { ...everybody, settings: [{ provider: "mine", baseUrl: "https://m.example.com", availableModels: ["gpt-4o"] }] },
      "mine gpt-4o",
    ],
  ])("%s", async (_what, world, place) => {
    expect(placesOf(await attemptsOf(world, { model: "gpt-4o" }))).toEqual([place]);
  });

  test("unknown names go to the operator's own server", async () => {
    const world = { env: { openai: "http://127.0.0.1:8000/v1" } };
    const [attempt] = await attemptsOf(world, { model: "my-model" });
    expect(attempt).toMatchObject({ target: { model: "my-model", baseUrl: world.env.openai }, isOperatorHost: true });
  });
});

describe("a pinned provider", () => {
  test.each<[pin: string, call: Call, places: string[]]>([
    ["azure", { model: "gpt-4o" }, ["azure gpt-4o"]],
    ["azure", { model: "openai/gpt-4o" }, ["azure gpt-4o"]],
    ["Azure_OpenAI", { model: "azure/gpt-4o" }, ["azure gpt-4o"]],
    ["openrouter", { model: "openai/gpt-4o" }, ["openrouter openai/gpt-4o"]],
    ["groq", { model: "openai/gpt-oss-120b" }, ["groq openai/gpt-oss-120b"]],
    ["vertex_ai", { model: "gemini-2.5-pro" }, ["gemini gemini-2.5-pro"]],
    [
      "azure",
      { model: "gpt-4o", params: { fallback_models: ["gpt-4o-mini", "anthropic/claude-sonnet-4-5"] } },
      ["azure gpt-4o", "azure gpt-4o-mini", "anthropic claude-sonnet-4-5"],
    ],
    ["", { model: "gpt-4o" }, ["openai gpt-4o"]],
  ])("%s with %j", async (routeProvider, call, places) => {
    expect(placesOf(await attemptsOf(everybody, { ...call, routeProvider }))).toEqual(places);
  });

  test("does not change the model's name", async () => {
    const [attempt] = await attemptsOf(everybody, { model: "openai/gpt-4o", routeProvider: "azure" });
    expect(attempt?.model).toBe("openai/gpt-4o");
  });
});

describe("the models of a call", () => {
  const weighted = [
    { model: "gpt-4o", weight: 1 },
    { model: "grok-4", weight: 3 },
  ];
  test.each<[what: string, call: Call, models: string[], draws?: number[]]>([
    [
      "fallbacks in order, each once",
      { model: "gpt-4o", params: { fallback_models: ["grok-4", "gpt-4o", "sonar"] } },
      ["gpt-4o", "grok-4", "sonar"],
    ],
    ["no fallback", { model: "gpt-4o", params: { fallback_models: ["grok-4"], disable_fallback: true } }, ["gpt-4o"]],
    [
      "candidates after the model",
      { model: "gpt-4o", params: { models: ["sonar"], fallback_models: ["grok-4"] } },
      ["gpt-4o", "sonar", "grok-4"],
    ],
    ["only candidates", { params: { models: ["sonar", "grok-4"] } }, ["sonar", "grok-4"]],
    ["excluded model", { model: "gpt-4o", params: { models: ["sonar"], exclude_models: ["gpt-4o"] } }, ["sonar"]],
    [
      "excluded provider",
      { model: "gpt-4o", params: { fallback_models: ["xai/grok-4", "sonar"], exclude_providers: ["x-ai"] } },
      ["gpt-4o", "sonar"],
    ],
    [
      "a group instead of the model",
      { model: "sonar", params: { load_balance_models: weighted } },
      ["gpt-4o", "grok-4"],
      [0.2],
    ],
    [
      "a group by weight",
      { model: "sonar", params: { load_balance_group: { group_id: "g", models: weighted } } },
      ["grok-4", "gpt-4o"],
      [0.3],
    ],
    [
      "a group, then fallbacks",
      { params: { load_balance_models: weighted, fallback_models: ["sonar"] } },
      ["gpt-4o", "grok-4", "sonar"],
    ],
    ["one of a group", { params: { load_balance_models: weighted, disable_fallback: true } }, ["grok-4"], [0.9]],
  ])("%s", async (_what, call, models, draws = []) => {
    expect((await attemptsOf({ ...everybody, draws }, call)).map(({ model }) => model)).toEqual(models);
  });

  test("Azure's deployments have their own names", async () => {
    const params = {
      model_name_map: { "gpt-4o": "our-4o", "azure/gpt-4o-mini": "our-mini" },
      fallback_models: ["azure/gpt-4o-mini", "openai/gpt-4o"],
    };
    const attempts = await attemptsOf(everybody, { model: "azure/gpt-4o", params });
    expect(placesOf(attempts)).toEqual(["azure our-4o", "azure our-mini", "openai gpt-4o"]);
  });
});

describe("invalid calls", () => {
  const override = (members: Record<string, unknown>): Call => ({
    model: "gpt-4o",
    params: { credential_override: { openai: members } },
  });
  test.each<[call: Call, code: string, param: string | undefined]>([
    [{ model: "no-such-model" }, "invalid_request", "model"],
    [{ model: "nobody/gpt-4o-x" }, "invalid_request", "model"],
    [{}, "invalid_request", "model"],
    [{ model: "gpt-4o", params: { fallback_models: ["no-such-model"] } }, "invalid_request", "fallback_models"],
    [{ model: "gpt-4o", routeProvider: "nobody" }, "invalid_request", "X-Svc-Route-Provider"],
    [{ model: "gpt-4o", params: { exclude_models: ["gpt-4o"] } }, "invalid_request", "exclude_models"],
    [{ model: "openai/gpt-4o", params: { exclude_providers: ["openai"] } }, "invalid_request", "exclude_providers"],
    [{ params: { load_balance_group: { group_id: "g" } } }, "invalid_request", "load_balance_group"],
    [{ params: { models: Array.from({ length: 33 }, (_, n) => `openai/m${n}`) } }, "invalid_request", "models"],
    [{ model: "anthropic/claude-sonnet-4-5", operation: "embeddings" }, "invalid_request", "model"],
    [override({ api_base: "file:///etc/passwd" }), "invalid_request", "credential_override.openai.api_base"],
    [override({ api_base: "http://user@169.254.169.254" }), "invalid_request", "credential_override.openai.api_base"],
    [override({ api_base: "https://example.com/v1?x=1" }), "invalid_request", "credential_override.openai.api_base"],
    [override({ api_key: "key\nx-evil: 1" }), "invalid_request", "credential_override.openai.api_key"],
    [override({ api_key: { nested: true } }), "invalid_request", "credential_override.openai.api_key"],
    [override({ api_key: "k", region: "x.example.com/" }), "invalid_request", "credential_override.openai.region"],
    [override({ api_version: "2024" }), "invalid_request", "credential_override.openai"],
  ])("%j is %s and names %s", async (call, code, param) => {
    const failure = await attemptsOf({ env: { openai: undefined } }, call).catch((error: ServiceError) => error);
    expect(failure).toMatchObject({ code, errors: { [param ?? ""]: [expect.any(String)] } });
    expect((failure as ServiceError).message).not.toMatch(/passwd|evil|169/);
  });

  test("a model without a credential is an error of its own that names the provider", async () => {
    await expect(attemptsOf({}, { model: "gpt-4o" })).rejects.toMatchObject({
      code: "no_credential",
      message: expect.stringContaining("openai"),
    });
    const messageOf = (world: World, model: string) =>
      attemptsOf(world, { model }).then(
        () => "",
        (error: ServiceError) => error.message,
      );
    expect(await messageOf({}, "gpt-4o")).toMatch(/OPENAI_API_KEY.*POST \/api\/providers\//);
    expect(await messageOf({}, "gpt-4o")).not.toContain("catalogue");
    expect(await messageOf({}, "gpt-99")).toContain("gpt-99 is not in the catalogue");
    const settings = [{ provider: "my-lab", availableModels: ["lab-1"] }];
    expect(await messageOf({ settings }, "my-lab/lab-2")).toMatch(
      /None .* for my-lab serves lab-2: .*available_models/,
    );
    const unreadable = [{ id: "7", provider: "my-lab", availableModels: ["lab-1"] }];
    for (const model of ["lab-1", "my-lab/lab-1", "my-lab/lab-2"]) {
      expect(await messageOf({ unreadable }, model)).toMatch(/my-lab cannot be read.*PATCH \/api\/providers\/7\//);
    }
    expect(await messageOf({ unreadable }, "lab-3")).toMatch(/unknown model: lab-3/);
    const withFallback = { model: "gpt-4o", params: { fallback_models: ["spanway/echo"] } };
    expect(placesOf(await attemptsOf({}, withFallback))).toEqual(["spanway echo"]);
  });
});
