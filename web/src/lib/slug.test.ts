import { expect, test } from "vitest";
import { slugOf } from "./slug.ts";

test.each([
  ["Dear answers", "dear-answers"],
  ["  Crème brûlée, twice!  ", "creme-brulee-twice"],
  ["a_b.c", "a-b-c"],
  ["x".repeat(59) + " y", "x".repeat(59)],
  ["List", "condition-list"],
  ["", ""],
])("%j becomes %j", (name, slug) => expect(slugOf(name, "condition")).toBe(slug));

test("a name without Latin letters has a stable slug", () => {
  const slugs = ["エラー", "ошибки"].map((name) => slugOf(name, "evaluator"));
  expect(slugs).toEqual([
    expect.stringMatching(/^evaluator-[a-z0-9]+$/),
    expect.stringMatching(/^evaluator-[a-z0-9]+$/),
  ]);
  expect(new Set([...slugs, slugOf("エラー", "evaluator")]).size).toBe(2);
});
