import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { openaiShaped } from "../providers/quirks.ts";
import type { Attempt } from "../routing/plan.ts";
import type { ServiceParams } from "../request/service-params.ts";
import { answerKeys, type CacheableCall } from "./answer-cache.ts";

const secret = new Uint8Array(32).fill(1);
const origin = { organization_id: "org", environment: "prod" } as const;

function callOf(members: Record<string, unknown>, params: ServiceParams = {}): CacheableCall {
  return {
    origin,
    operation: "chat",
    request: { body: { bytes: Buffer.of(), members, forProvider: members }, params },
  };
}

const attempt: Attempt = {
  model: "gpt-4o",
  target: { provider: "openai", model: "gpt-4o", baseUrl: "https://a", credential: { apiKey: "k", fields: {} } },
  translator: undefined,
  quirks: openaiShaped.openai,
  credentialId: "c",
  keyMark: "",
  isCallerHost: false,
  isOperatorHost: false,
};
const at = (target: Partial<Attempt["target"]>): Attempt => ({ ...attempt, target: { ...attempt.target, ...target } });
const keyOf = (call: CacheableCall, where = attempt): string => answerKeys(secret, call)(where);

const members = { model: "gpt-4o", messages: [{ role: "user", content: "x" }], temperature: 0 };
const key = keyOf(callOf(members));

describe("The key of a cached answer", () => {
  test("does not depend on the order of members", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const reversed = Object.fromEntries(Object.entries(body).reverse());
        expect(keyOf(callOf(reversed))).toBe(keyOf(callOf(body)));
      }),
    );
  });

  test("depends on every member of the body except the model's name and the form of delivery", () => {
    const names = fc.string().filter((name) => !["model", "stream", "stream_options", "__proto__"].includes(name));
    fc.assert(
      fc.property(names, fc.jsonValue(), fc.jsonValue(), (name, value, other) => {
        fc.pre(canonicalJson(value) !== canonicalJson(other) && !(name in members));
        const keys = [value, other].map((member) => keyOf(callOf({ ...members, [name]: member })));
        expect(new Set([...keys, key]).size).toBe(3);
      }),
    );
    for (const delivery of [
      { stream: true },
      { stream_options: { include_usage: true } },
      { model: "openai/gpt-4o" },
    ]) {
      expect(keyOf(callOf({ ...members, ...delivery }))).toBe(key);
    }
  });

  test.each<[string, string]>([
    ["organisation", keyOf({ ...callOf(members), origin: { ...origin, organization_id: "other" } })],
    ["environment", keyOf({ ...callOf(members), origin: { ...origin, environment: "test" } })],
    ["operation", keyOf({ ...callOf(members), operation: "responses" })],
    ["provider", keyOf(callOf(members), at({ provider: "azure" }))],
    ["model", keyOf(callOf(members), at({ model: "gpt-4o-mini" }))],
    ["address", keyOf(callOf(members), at({ baseUrl: "https://b" }))],
    ["credential", keyOf(callOf(members), at({ credential: { apiKey: "l", fields: {} } }))],
    ["fields of the credential", keyOf(callOf(members), at({ credential: { apiKey: "k", fields: { region: "eu" } } }))],
    ["secret of the server", answerKeys(new Uint8Array(32), callOf(members))(attempt)],
    ["variables", keyOf(callOf(members, { variables: { a: 1 } }))],
    ["customer, if requested", keyOf(callOf(members, { cache_options: { cache_by_customer: true } }))],
    ["model, if switched off", keyOf(callOf(members, { cache_options: { is_cached_by_model: false } }))],
  ])("depends on the %s", (_part, other) => {
    expect(other).not.toBe(key);
  });

  test("differs with and without a customer, and does not confuse a customer's name with another parameter", () => {
    const cache_options = { cache_by_customer: true };
    const keys = [{}, { customer_identifier: "a" }, { customer_identifier: "null" }].map((params) =>
      keyOf(callOf(members, { cache_options, ...params })),
    );
    expect(new Set(keys).size).toBe(3);
  });

  test("reveals neither the credential nor the request", () => {
    expect(key).toMatch(/^[\w-]{43}$/);
  });
});
