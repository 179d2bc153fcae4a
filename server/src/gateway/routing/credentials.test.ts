import { describe, expect, test } from "vitest";
import type { Attempt, RoutedCall } from "./plan.ts";
import { attemptsOf, everybody, placesOf, type Call, type World } from "./router.fixture.ts";

const beta: ReadonlySet<string> = new Set(["env-scoped-integrations-2026-03-28"]);

const keysOf = (attempts: Attempt[]): Array<string | undefined> =>
  attempts.map(({ target }) => target.credential.apiKey);

describe("credentials", () => {
  const stored = { provider: "openai" };
  const named = (apiKey: string) => ({ credential: { apiKey, fields: {} } });

  test.each<[what: string, world: World, call: Call, keys: string[]]>([
    ["of the environment variables", { env: { openai: undefined } }, {}, ["openai-env"]],
    ["stored ones before those", { env: { openai: undefined }, settings: [stored] }, {}, ["openai-stored"]],
    [
      "of an override before stored ones",
      { settings: [stored] },
      { params: { credential_override: { openai: { api_key: "mine" } } } },
      ["mine"],
    ],
    [
      "of an override by model",
      { settings: [stored] },
      { params: { credential_override: { "gpt-4o": { api_key: "mine" }, openai: { api_key: "other" } } } },
      ["mine"],
    ],
    [
      "of an override for another provider: none",
      { settings: [stored] },
      { params: { credential_override: { groq: { api_key: "mine" } } } },
      ["openai-stored"],
    ],
    [
      "of the customer, before an override",
      { settings: [stored] },
      {
        params: {
          customer_credentials: { openai: { api_key: "customer" } },
          credential_override: { openai: { api_key: "mine" } },
        },
      },
      ["customer"],
    ],
    [
      "stored, for the key's environment",
      {
        settings: [
          { ...stored, ...named("test"), environment: "test" },
          { ...stored, ...named("prod"), environment: "prod" },
        ],
      },
      {},
      ["prod"],
    ],
    [
      "stored, for both environments",
      {
        settings: [
          { ...stored, ...named("test"), environment: "test" },
          { ...stored, ...named("both") },
        ],
      },
      {},
      ["both"],
    ],
    [
      "K6: never those stored for test, for prod",
      { env: { openai: undefined }, settings: [{ ...stored, environment: "test" }] },
      {},
      ["openai-env"],
    ],
    [
      "K6: not those stored for prod, for test",
      { env: { openai: undefined }, settings: [{ ...stored, environment: "prod" }] },
      { environment: "test" },
      ["openai-env"],
    ],
    [
      "K6: those stored for prod, for test, if the organization shares them",
      { settings: [{ ...stored, ...named("prod"), environment: "prod", servesTest: true }] },
      { environment: "test" },
      ["prod"],
    ],
    [
      "K6: those stored for test, although prod's are shared",
      {
        settings: [
          { ...stored, ...named("prod"), environment: "prod", servesTest: true },
          { ...stored, ...named("test"), environment: "test" },
        ],
      },
      { environment: "test" },
      ["test"],
    ],
    [
      "K6: not the shared ones of prod, under the beta",
      { env: { openai: undefined }, settings: [{ ...stored, environment: "prod", servesTest: true }] },
      { environment: "test", betas: beta },
      ["openai-env"],
    ],
    [
      "stored, only those that serve the model",
      {
        settings: [
          { ...stored, ...named("a"), availableModels: ["o3"] },
          { ...stored, ...named("b"), excludeModels: ["gpt-4o"] },
          { ...stored, ...named("c"), availableModels: ["openai/gpt-4o", "gpt-4o"] },
        ],
      },
      {},
      ["c"],
    ],
    [
      "stored, by weight",
      {
        settings: [
          { ...stored, ...named("a") },
          { ...stored, ...named("b"), weight: 3 },
        ],
        draws: [0.3],
      },
      {},
      ["b", "a"],
    ],
    [
      "of a weighted list",
      { settings: [stored], draws: [0.9] },
      {
        params: {
          customer_credentials: [
            { credentials: { openai: { api_key: "a" } }, weight: 1 },
            { credentials: { openai: { api_key: "b" } }, weight: 1 },
            { credentials: { openai: { api_key: "c" } }, exclude_models: ["gpt-4o"] },
          ],
        },
      },
      ["b", "a"],
    ],
    [
      "of a member of a group",
      { settings: [stored] },
      { params: { load_balance_models: [{ model: "openai/gpt-4o", credentials: { api_key: "member" } }] } },
      ["member"],
    ],
    [
      "of a member of a group, by provider",
      { settings: [stored] },
      { params: { load_balance_models: [{ model: "gpt-4o", credentials: { openai: { api_key: "member" } } }] } },
      ["member"],
    ],
  ])("%s", async (_what, world, call, keys) => {
    expect(keysOf(await attemptsOf(world, { model: "gpt-4o", ...call }))).toEqual(keys);
  });

  const bases = { openai: "http://127.0.0.1:9/v1" };
  test.each<[what: string, world: World, params: RoutedCall["params"], attempt: object]>([
    [
      "the vendor's",
      { env: { openai: undefined } },
      {},
      { baseUrl: "https://api.openai.com/v1", key: "openai-env", isCallerHost: false, isOperatorHost: false },
    ],
    [
      "the operator's",
      { env: bases },
      {},
      { baseUrl: bases.openai, key: "openai-env", isCallerHost: false, isOperatorHost: true },
    ],
    [
      "the organization's",
      { env: bases, settings: [{ provider: "openai", baseUrl: "https://org.example.com/v1" }] },
      {},
      { baseUrl: "https://org.example.com/v1", key: "openai-stored", isCallerHost: false, isOperatorHost: false },
    ],
    [
      "the caller's, with the caller's key",
      { env: bases },
      { credential_override: { openai: { api_key: "mine", api_base: "https://c.example.com/v1/" } } },
      { baseUrl: "https://c.example.com/v1", key: "mine", isCallerHost: true, isOperatorHost: false },
    ],
    [
      "the caller's, without a key: not with ours",
      { env: bases, settings: [{ provider: "openai" }] },
      { credential_override: { "gpt-4o": { api_base: "https://c.example.com/v1" } } },
      { baseUrl: "https://c.example.com/v1", key: undefined, isCallerHost: true, isOperatorHost: false },
    ],
    [
      "the caller's, for a customer",
      { env: bases, settings: [{ provider: "openai" }] },
      { customer_credentials: { openai: { base_url: "https://c.example.com" } } },
      { baseUrl: "https://c.example.com", key: undefined, isCallerHost: true, isOperatorHost: false },
    ],
  ])("go to one address: %s", async (_what, world, params, expected) => {
    const [attempt] = await attemptsOf(world, { model: "gpt-4o", params });
    const { target, isCallerHost, isOperatorHost } = attempt!;
    expect({ baseUrl: target.baseUrl, key: target.credential.apiKey, isCallerHost, isOperatorHost }).toEqual(expected);
  });

  test("the caller may use an unknown provider", async () => {
    const params = { credential_override: { mine: { api_base: "https://c.example.com", api_key: "k" } } };
    expect(placesOf(await attemptsOf({}, { model: "mine/some/model", params }))).toEqual(["mine some/model"]);
  });

  test("have ids that differ by organization, model, address and key, and reveal none of them", async () => {
    const id = async (world: World, call: Call) => (await attemptsOf(world, call))[0]?.credentialId ?? "";
    const ids = await Promise.all([
      id(everybody, { model: "gpt-4o" }),
      id(everybody, { model: "gpt-4o", organizationId: "org_b" }),
      id(everybody, { model: "gpt-4o-mini" }),
      id({ settings: [stored] }, { model: "gpt-4o" }),
    ]);
    expect(new Set(ids).size).toBe(4);
    expect(ids.join(" ")).not.toMatch(/openai|gpt|org/);
  });

  test("Bedrock's address follows from its region", async () => {
    const [attempt] = await attemptsOf(everybody, { model: "bedrock/amazon.nova-lite-v1:0" });
    expect(attempt?.target.baseUrl).toBe("https://bedrock-runtime.eu-west-1.amazonaws.com");
  });
});
