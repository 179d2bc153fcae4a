import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { makeApiKey } from "../../src/auth/make-api-key.ts";
import type { Organization } from "../../src/domain/organization.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import type { ControlStores, ControlStoreSet } from "../../src/storage/control/control-stores.ts";
import { testEvaluator } from "../../src/evaluation/evaluation.fixture.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");
const created_at = new Date(createdAtMs).toISOString();

type Kind = { most: number; create: (set: ControlStoreSet, unique_organization_id: string) => Promise<unknown> };

const kinds: Record<string, Kind> = {
  webhooks: {
    most: storageLimits.webhooksPerOrganization,
    create: ({ webhooks }, unique_organization_id) =>
      webhooks.create({
        unique_organization_id,
        environment: "prod",
        organization_key: null,
        name: "Hook",
        url: "https://example.com/",
        event_type: "request_log",
        active: false,
        legacy_signatures: false,
        secret: "sealed",
        created_at,
      }),
  },
  "API keys": {
    most: storageLimits.apiKeysPerOrganization,
    create: ({ apiKeys }, unique_organization_id) =>
      apiKeys.create(
        makeApiKey({
          unique_organization_id,
          name: "CI",
          environment: "prod",
          permissions: ["spans:write"],
          user_id: null,
          expires_at: null,
          createdAtMs,
        }).record,
      ),
  },
  "provider settings": {
    most: storageLimits.providerSettings,
    create: ({ providerSettings }, unique_organization_id) =>
      providerSettings.create({
        id: randomUUID(),
        unique_organization_id,
        provider: "openai",
        name: "",
        environment: null,
        base_url: null,
        fields: {},
        available_models: null,
        exclude_models: [],
        weight: 1,
        is_enabled: true,
        secret: "sealed",
        secret_tail: "",
        created_at,
        updated_at: created_at,
      }),
  },
  conditions: {
    most: storageLimits.conditionsPerOrganization,
    create: ({ conditions }, unique_organization_id) =>
      conditions.create({
        id: randomUUID(),
        unique_organization_id,
        condition_slug: randomUUID(),
        name: "All",
        condition_type: "single_log",
        description: "",
        condition_policy: { rules: [{ field: "cost", operator: "greater_than", value: 1 }], connector: "AND" },
        created_at,
        updated_at: created_at,
      }),
  },
  evaluators: {
    most: storageLimits.evaluatorsPerOrganization,
    create: ({ evaluators }, unique_organization_id) => evaluators.create(testEvaluator({ unique_organization_id })),
  },
};

/** The part of control-store-contract.ts about the number of objects of a kind per organization. */
export function describeRoom(driver: { stores: () => ControlStores; newOrganization: () => Promise<Organization> }) {
  describe("the last place", () => {
    test.each(Object.entries(kinds))(
      "for %s is taken once if several are created at the same moment",
      async (_, kind) => {
        const stores = driver.stores();
        const { unique_organization_id: organization } = await driver.newOrganization();
        await stores.unflushed(async (set) => {
          for (let made = 1; made < kind.most; made += 1) await kind.create(set, organization);
        });
        const created = await Promise.allSettled(Array.from({ length: 6 }, () => kind.create(stores, organization)));
        const outcomes = created.map((each) => (each.status === "fulfilled" ? "created" : String(each.reason.code)));
        const counts = Map.groupBy(outcomes, (outcome) => outcome);
        expect([counts.get("created")?.length, counts.get("conflict")?.length]).toEqual([1, 5]);
      },
    );
  });
}
