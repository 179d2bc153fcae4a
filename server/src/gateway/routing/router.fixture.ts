import { Secret } from "../../lib/secret.ts";
import type { EnvironmentCredential } from "../credentials/credential-sources.ts";
import type { OpenSetting, UnreadableSetting } from "../credentials/stored-settings.ts";
import { createCatalogue } from "../models/catalogue.ts";
import { anthropicTranslator } from "../providers/anthropic/translator.ts";
import { bedrockTranslator } from "../providers/bedrock/translator.ts";
import { geminiTranslator } from "../providers/gemini/translator.ts";
import { createCoolDown } from "./cool-down.ts";
import type { Attempt, RoutedCall } from "./plan.ts";
import { createProviderTable } from "./provider-table.ts";
import { createRouter } from "./router.ts";
import { virtualTime } from "./run-plan.fixture.ts";

const catalogue = createCatalogue({ maxModels: 1_000 });
const providers = createProviderTable({
  anthropic: anthropicTranslator,
  bedrock: bedrockTranslator,
  gemini: geminiTranslator,
});

export type World = {
  /** Providers with a key `<name>-env`, and an address if one is given. */
  env?: Record<string, string | undefined>;
  settings?: Array<Partial<OpenSetting> & { provider: string }>;
  unreadable?: UnreadableSetting[];
  draws?: number[];
};

export type Call = Partial<Omit<RoutedCall, "params">> & { params?: RoutedCall["params"] };

function setting(fields: Partial<OpenSetting> & { provider: string }): OpenSetting {
  return {
    environment: null,
    servesTest: false,
    credential: { apiKey: `${fields.provider}-stored`, fields: {} },
    baseUrl: undefined,
    isCallerHost: false,
    weight: 1,
    availableModels: undefined,
    excludeModels: [],
    ...fields,
  };
}

/** Every attempt of a call, in order, if all upstreams refuse the key. */
export async function attemptsOf(world: World, call: Call): Promise<Attempt[]> {
  const { now, sleep } = virtualTime();
  const draws = [...(world.draws ?? [])];
  const environment = new Map<string, EnvironmentCredential>(
    Object.entries(world.env ?? {}).map(([name, baseUrl]) => [
      name,
      { apiKey: new Secret(`${name}-env`), baseUrl, fields: name === "bedrock" ? { region: "eu-west-1" } : {} },
    ]),
  );
  const router = createRouter({
    providers,
    catalogue,
    environment,
    settings: {
      of: () => (world.settings ?? []).map(setting),
      evict: () => undefined,
      unreadable: () => world.unreadable ?? [],
    },
    markKey: Buffer.from("the same on every node"),
    keyVariables: new Map([["openai", "OPENAI_API_KEY"]]),
    coolDown: createCoolDown({ now }),
    now,
    sleep,
    random: () => draws.shift() ?? 0,
  });
  const defaults = {
    organizationId: "org_a",
    environment: "prod",
    model: "",
    betas: new Set(),
    operation: "chat",
  } as const;
  const plan = await router.plan({ ...defaults, params: {}, ...call } as RoutedCall, new AbortController().signal);
  const attempts: Attempt[] = [];
  const problem = { kind: "credential", status: 401, message: "bad key" } as const;
  for (let step = await plan.next(); step !== undefined; step = await plan.next(problem)) attempts.push(step.attempt);
  return attempts;
}

export const placesOf = (attempts: Attempt[]): string[] =>
  attempts.map(({ target }) => `${target.provider} ${target.model}`);

/** Every provider has a key. */
export const everybody: World = {
  env: Object.fromEntries(
    [...providers.keys()].map((name) => [name, name === "azure" ? "https://azure.example.com" : undefined]),
  ),
};
