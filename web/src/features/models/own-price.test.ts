import { expect, test } from "vitest";
import { ownPriceOf, type OwnPrice } from "./own-price.ts";

const at = Date.parse("2026-06-01T00:00:00Z");

function price(model: string, more: Partial<OwnPrice> = {}): OwnPrice {
  const fields = { provider: "", rates: { input: 1 }, valid_from: null, valid_to: null, updated_at: "2026-01-01" };
  return { id: model, model, ...fields, ...more };
}

function chosen(prices: OwnPrice[], model: string, provider = "openai"): string | undefined {
  return ownPriceOf(prices, { model, provider, at })?.id;
}

test("an exact name precedes a pattern, a longer pattern a shorter one, in any order of the list", () => {
  const prices = [price("gpt-*"), price("GPT-4o"), price("gpt-4*")];
  expect(chosen(prices, "gpt-4o")).toBe("GPT-4o");
  expect(chosen(prices, "gpt-4.1")).toBe("gpt-4*");
  expect(chosen(prices, "gpt-5")).toBe("gpt-*");
  expect(chosen(prices, "o3")).toBeUndefined();
});

test("a price of a provider applies to it only, and precedes one of any provider", () => {
  const prices = [price("m", { id: "any" }), price("m", { id: "aws", provider: "aws" })];
  expect(chosen(prices, "m", "bedrock")).toBe("aws");
  expect(chosen(prices, "m", "openai")).toBe("any");
});

test("a price applies from its start time until just before its end time", () => {
  const moment = new Date(at).toISOString();
  expect(chosen([price("m", { valid_from: moment })], "m")).toBe("m");
  expect(chosen([price("m", { valid_to: moment })], "m")).toBeUndefined();
  expect(chosen([price("m", { valid_from: "2026-06-02T00:00:00Z" })], "m")).toBeUndefined();
});

test("parts of a pattern must occur in order without overlap", () => {
  expect(chosen([price("a*b*c")], "a-b-c")).toBe("a*b*c");
  expect(chosen([price("a*b*c")], "ac")).toBeUndefined();
  expect(chosen([price("ab*bc")], "abc")).toBeUndefined();
  expect(chosen([price("a*b*c*d")], "acbd")).toBeUndefined();
});
