import { expect, test } from "vitest";
import { describeFields } from "./describe.ts";
import { parseFilters } from "./parse.ts";
import { createSpanCatalogue } from "./span-fields.ts";

const catalogue = createSpanCatalogue();

test("every offered operator is accepted by its field", () => {
  const examples = { text: "a", selection: "true", number: 1, "datetime-local": "2025-01-01T00:00" } as const;
  const described = Object.values(describeFields(catalogue));
  expect(described).toHaveLength(catalogue.fields.length);
  for (const { metric, operator_choices: operators, value_field_type: type } of described) {
    for (const { value: operator } of operators) {
      const value = operator === "isnull" ? true : examples[type];
      expect(() => parseFilters({ [metric]: { operator, value: [value] } }, catalogue)).not.toThrow();
    }
  }
});

test("describes what a menu needs", () => {
  const seen = new Map([["model", ["gpt-4o"]]]);
  const { model, cost, status, timestamp, messages } = describeFields(catalogue, seen);
  expect(model).toMatchObject({ display_name: "Model", metric: "model", value_field_type: "selection", hidden: false });
  expect(model?.value_choices).toEqual([{ name: "gpt-4o", value: "gpt-4o" }]);
  expect(cost?.value_field_type).toBe("number");
  expect(cost?.operator_choices.map(({ value }) => value)).toEqual([
    "",
    "not",
    "in",
    "not_in",
    "lt",
    "lte",
    "gt",
    "gte",
    "isnull",
  ]);
  expect(status?.value_choices.map(({ value }) => value)).toEqual(["success", "failed"]);
  expect(timestamp?.value_field_type).toBe("datetime-local");
  expect(messages?.hidden).toBe(true);
});
