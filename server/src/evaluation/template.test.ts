import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluationLimits } from "./limits.ts";
import { renderTemplate, unknownPlaceholders } from "./template.ts";

const values = {
  input: "in",
  output: "{{input}} $& $1",
  metadata: { tier: "paid", "a.b": "flat", a: { b: "deep", c: [1] } },
  none: null,
};

test.each([
  ["{{input}} and {{ output }}", "in and {{input}} $& $1"],
  ["{{metadata.tier}}", "paid"],
  ["{{metadata.a.b}}", "flat"],
  ["{{metadata.a.c}}", "[1]"],
  ["{{metadata.a}}", '{"b":"deep","c":[1]}'],
  ["{{none}}{{missing}}{{metadata.missing}}{{input.length}}", ""],
  ["{{constructor}}{{__proto__}}{{metadata.constructor}}", ""],
  ["{input} {{in put}} {{}}", "{input} {{in put}} {{}}"],
])("%s becomes %s", (template, text) => {
  expect(renderTemplate(template, values)).toBe(text);
});

test.each([
  ["{{input}} {{ output }} {{llm_output}} {{metadata}} {{metadata.a.b}} {{metrics.cost}} {{in put}}", []],
  ["{{ouput}} {{ouput}} {{input.x}} {{metadatas.x}}", ["ouput", "input.x", "metadatas.x"]],
])("the names of %s that nothing can fill are %j", (template, names) => {
  expect(unknownPlaceholders(template)).toEqual(names);
});

test("any value is inserted as it is", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (input, output) => {
      expect(renderTemplate("<{{input}}|{{output}}>", { input, output })).toBe(`<${input}|${output}>`);
    }),
  );
});

test("a long value is truncated", () => {
  const text = renderTemplate("{{input}}", { input: "x".repeat(evaluationLimits.judgeValueChars + 1) });
  expect(text.length).toBeLessThan(evaluationLimits.judgeValueChars + 10);
  expect(text.endsWith(" […]")).toBe(true);
});
