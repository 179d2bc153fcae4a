import { expect, test } from "vitest";
import { enteredOf, enteredValue, formOf, scoreText } from "./score-value.ts";
import type { Score } from "./score-queries.ts";

const noValue = {
  numerical_value: null,
  boolean_value: null,
  categorical_value: null,
  string_value: null,
  json_value: null,
};

test.each([
  ["numerical", ["4"], { numerical_value: 4 }],
  ["percentage", ["12.5"], { numerical_value: 12.5 }],
  ["boolean", ["false"], { boolean_value: false }],
  ["single_select", ["good"], { categorical_value: ["good"] }],
  ["multi_select", ["a", "b"], { categorical_value: ["a", "b"] }],
  ["text", ["fine"], { string_value: "fine" }],
  ["json", ['{"a":1}'], { json_value: '{"a":1}' }],
] as const)("the value of a %s evaluator is sent, and shown again for editing", (score_value_type, entered, body) => {
  expect(enteredValue({ score_value_type }, entered)).toEqual(body);
  expect(enteredOf({ ...noValue, ...body } as unknown as Score)).toEqual(entered);
});

test.each([
  ["numerical", []],
  ["numerical", ["four"]],
  ["text", [" "]],
  ["multi_select", []],
] as const)("nothing entered for a %s evaluator: %j", (score_value_type, entered) => {
  expect(enteredValue({ score_value_type }, entered)).toBeUndefined();
});

test("the kind of input for a value", () => {
  expect(formOf({ score_value_type: "numerical", score_config: { min_score: 1, max_score: 5 } })).toEqual({
    kind: "number",
    min: 1,
    max: 5,
  });
  expect(formOf({ score_value_type: "multi_select", score_config: { choices: [{ name: "a" }] } })).toEqual({
    kind: "choices",
    names: ["a"],
    areSeveral: true,
  });
});

test.each([
  [{ numerical_value: 0 }, "0"],
  [{ numerical_value: 80, score_value_type: "percentage" }, "80%"],
  [{ boolean_value: false }, "false"],
  [{ categorical_value: ["a", "b"] }, "a, b"],
  [{ json_value: "{}" }, "{}"],
  [{ status: "failed" }, "failed"],
] as const)("a score as text: %j", (score, text) => {
  expect(scoreText({ status: "success", ...noValue, ...score } as unknown as Score)).toBe(text);
});
