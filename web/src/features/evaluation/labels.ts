import type { Kind, Rule, ValueType } from "./draft.ts";

export const kindLabels: Readonly<Record<Kind, string>> = {
  rule: "Rule",
  code: "Code",
  llm: "Model",
  human: "People",
};

export const valueLabels: Readonly<Record<ValueType, string>> = {
  boolean: "True or false",
  numerical: "Number",
  percentage: "Percentage",
  single_select: "One choice",
  multi_select: "Several choices",
  text: "Text",
  json: "JSON",
};

const ruleLabels: Readonly<Record<Rule, string>> = {
  contains: "Contains a text",
  regex: "Matches a regular expression",
  json_schema: "Matches a JSON schema",
  similarity: "Is similar to a text",
};

export const ruleOptions = optionsOf(ruleLabels);
export const kindOptions = optionsOf(kindLabels);

export const passOptions = [
  { value: "none", label: "any" },
  { value: "gte", label: "at least" },
  { value: "gt", label: "more than" },
  { value: "lte", label: "at most" },
  { value: "lt", label: "less than" },
  { value: "equals", label: "equal to" },
] as const;

function optionsOf<T extends string>(labels: Readonly<Record<T, string>>): Array<{ value: T; label: string }> {
  return Object.keys(labels).map((value) => ({ value: value as T, label: labels[value as T] }));
}
