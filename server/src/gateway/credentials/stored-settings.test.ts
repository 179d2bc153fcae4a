import { expect, test } from "vitest";
import { controlUp, staleMs } from "../../../test/support/control-up.ts";
import type { SealedProviderSetting } from "../../domain/provider-setting.ts";
import { Secret } from "../../lib/secret.ts";
import { gatewayLimits } from "../limits.ts";
import { createSecretBox } from "./secret-box.ts";
import { createStoredSettings } from "./stored-settings.ts";

const box = createSecretBox(new Secret("a secret of the instance"));

function row(fields: Partial<SealedProviderSetting> = {}): SealedProviderSetting {
  const place = { unique_organization_id: "org_a", id: "1", provider: "openai", base_url: null };
  return {
    ...place,
    name: "one",
    environment: null,
    fields: { region: "us-east-1" },
    available_models: null,
    exclude_models: [],
    weight: 2,
    is_enabled: true,
    secret: box.seal({ api_key: "sk-1", session_token: "t" }, place),
    secret_tail: "",
    has_secret: true,
    created_at: "",
    updated_at: "",
    ...fields,
  };
}

function setUp(rows: SealedProviderSetting[] = [row()]) {
  const clock = { ms: 0 };
  const store = { rows, reads: 0, isDown: false };
  let unreadable = 0;
  const settings = createStoredSettings({
    control: controlUp(),
    staleMs,
    organizations: { find: async () => undefined },
    store: {
      list: async () => {
        store.reads += 1;
        if (store.isDown) throw new Error("no connection");
        return store.rows;
      },
    },
    box,
    now: () => clock.ms,
    onUnreadable: () => (unreadable += 1),
  });
  const names = async () => (await settings.of("org_a")).map(({ provider }) => provider);
  return { clock, store, settings, names, unreadable: () => unreadable };
}

test("settings are opened, and served synchronously from the cache", async () => {
  const { settings, store } = setUp();
  const expected = [
    expect.objectContaining({
      provider: "openai",
      credential: { apiKey: "sk-1", fields: { region: "us-east-1", session_token: "t" } },
      weight: 2,
      isCallerHost: false,
    }),
  ];
  expect(await Promise.all([settings.of("org_a"), settings.of("org_a")])).toEqual([expected, expected]);
  expect(settings.of("org_a")).toEqual(expected);
  expect(store.reads).toBe(1);
});

test("disabled settings and those that do not open are left out", async () => {
  const { names, unreadable, settings } = setUp([
    row({ is_enabled: false }),
    row({ provider: "moved", available_models: ["m"] }),
    row({ secret: "v1.00000000.AAAA" }),
    row({ provider: "open", secret: null }),
  ]);
  expect(await names()).toEqual(["open"]);
  expect(unreadable()).toBe(2);
  expect(settings.unreadable("org_a")).toEqual([
    { id: "1", provider: "moved", availableModels: ["m"] },
    { id: "1", provider: "openai", availableModels: undefined },
  ]);
  expect(settings.unreadable("org_b")).toEqual([]);
});

test("a change on another node applies after seconds, one on this node immediately", async () => {
  const { names, settings, store, clock } = setUp();
  await names();
  store.rows = [];
  expect(await names()).toEqual(["openai"]);
  clock.ms += gatewayLimits.cachedProviderSettingMs;
  expect(await names()).toEqual([]);
  store.rows = [row()];
  settings.evict("org_a");
  expect(await names()).toEqual(["openai"]);
});

test("frequent callers never wait", async () => {
  const { settings, store, clock } = setUp();
  await settings.of("org_a");
  for (let n = 1; n <= 10; n += 1) {
    clock.ms += gatewayLimits.cachedProviderSettingMs * 0.6;
    expect(settings.of("org_a")).not.toBeInstanceOf(Promise);
    await new Promise(setImmediate);
    expect(store.reads).toBe(1 + n);
  }
});

test("a read during a change is not cached", async () => {
  const { settings, store, names } = setUp();
  const early = settings.of("org_a");
  settings.evict("org_a");
  store.rows = [];
  await early;
  expect(await names()).toEqual([]);
});

test("without the store, recently served organizations are still served and others get unavailable", async () => {
  const { settings, store, clock, names } = setUp();
  store.isDown = true;
  await expect(names()).rejects.toMatchObject({ code: "unavailable" });
  store.isDown = false;
  await settings.of("org_a");
  store.isDown = true;
  clock.ms += gatewayLimits.cachedProviderSettingMs * 2;
  expect(await names()).toEqual(["openai"]);
  clock.ms += staleMs;
  await expect(names()).rejects.toMatchObject({ code: "unavailable" });
});
