import { expect, test } from "vitest";
import { draftOf, readDraft, withChange, type Evaluator } from "./draft.ts";

const stored: Evaluator = {
  id: "id",
  version_id: "id",
  version: 0,
  version_description: "",
  is_read_only: false,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  evaluator_slug: "judge",
  name: "Judge",
  description: "",
  type: "llm",
  score_value_type: "single_select",
  score_config: { choices: [{ name: "good", value: 1 }, { name: "bad" }] },
  passing_conditions: { primary_score: { operator: "not", value: ["bad", "ugly"] } },
  llm_config: { model: "gpt-4o-mini", evaluator_definition: "{{output}}", temperature: 0 },
  code_config: null,
  rule_config: null,
  eval_class: "svc_custom_evaluator",
  starred: false,
  tags: [],
};

test("saving keeps fields that the form does not show", () => {
  const read = readDraft({ ...draftOf(stored), prompt: "New {{output}}", choices: "good\nfair" });
  expect(read).toMatchObject({
    ok: true,
    body: {
      llm_config: { model: "gpt-4o-mini", evaluator_definition: "New {{output}}", temperature: 0 },
      score_config: { choices: [{ name: "good", value: 1 }, { name: "fair" }] },
    },
  });
  expect(read).not.toHaveProperty("body.passing_conditions");
});

test("a condition with one comparison is read and written unchanged", () => {
  const passing_conditions = { primary_score: { operator: "gte", value: 0.5 } };
  const draft = draftOf({ ...stored, score_value_type: "numerical", passing_conditions });
  expect(draft).toMatchObject({ passes: "gte", passesAt: "0.5" });
  expect(readDraft(draft)).toMatchObject({ ok: true, body: { passing_conditions } });
});

test("a rule gets a value type that it supports, and an invalid schema is reported", () => {
  const draft = withChange(draftOf(undefined), { rule: "similarity", valueType: "boolean" });
  expect(draft.valueType).toBe("numerical");
  expect(readDraft(withChange(draft, { rule: "json_schema", schema: "[" }))).toEqual({
    ok: false,
    problems: { rule_config: ["The schema is not a JSON object."] },
  });
});

test.each([
  ["numerical", "much", ["A number."]],
  ["text", " ", ["A value."]],
] as const)("a condition of a %s score needs a value", (valueType, passesAt, passing_conditions) => {
  const draft = { ...draftOf(undefined), kind: "human" as const, valueType, passes: "gte" as const, passesAt };
  expect(readDraft(draft)).toEqual({ ok: false, problems: { passing_conditions } });
});
