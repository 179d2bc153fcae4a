import { expect, test } from "vitest";
import { modelsByTrace } from "./trace-models.ts";

const used = (trace: string, model: string, total_cost: number, total_tokens: number) => ({
  trace_unique_id: trace,
  environment: "prod",
  model,
  total_cost,
  total_tokens,
  unpriced_count: 0,
});

test("gives each trace its models, those that cost most first, then those with the most tokens", () => {
  const models = modelsByTrace([
    used("a", "gpt-4o", 0.2, 10),
    used("b", "embedding", 0.1, 5),
    used("a", "embedding", 0.01, 900),
    used("b", "local-large", 0.1, 700),
  ]);
  const names = (key: string) => models.get(key)?.map(({ model }) => model);
  expect(names("prod a")).toEqual(["gpt-4o", "embedding"]);
  expect(names("prod b")).toEqual(["local-large", "embedding"]);
  expect(names("test a")).toBeUndefined();
});
