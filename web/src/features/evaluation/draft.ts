import type { components } from "../../api/schema.gen.ts";
import { isRecord } from "../../lib/exact-json.ts";
import { slugOf } from "../../lib/slug.ts";

export type Evaluator = components["schemas"]["Evaluator"];
export type Kind = Evaluator["type"];
export type ValueType = Evaluator["score_value_type"];
export type Rule = "regex" | "contains" | "json_schema" | "similarity";

/** The evaluator form's values, as typed. Fields that the form does not show stay in `base`. */
export type Draft = {
  base: Evaluator | undefined;
  name: string;
  slug: string;
  description: string;
  kind: Kind;
  valueType: ValueType;
  rule: Rule;
  target: "output" | "input";
  pattern: string;
  flags: string;
  /** One text per line. */
  texts: string;
  match: "any" | "all";
  isCaseSensitive: boolean;
  schema: string;
  expected: string;
  code: string;
  model: string;
  prompt: string;
  rubric: string;
  min: string;
  max: string;
  /** One name per line. */
  choices: string;
  /** `kept` stands for a condition that the form cannot show. */
  passes: "none" | "gte" | "gt" | "lte" | "lt" | "equals" | "kept";
  passesAt: string;
};

const firstCode = `function main({ input, output, expected_output, metadata, metrics }) {
  return { score: output.length, explanation: "characters" };
}
`;
const firstPrompt = "A customer wrote: {{input}}\n\nThe answer was: {{output}}\n\nDoes it help?";

/** The value types that a kind, or a rule, supports. */
export function valueTypesOf(kind: Kind, rule: Rule): readonly ValueType[] {
  if (kind === "rule") return rule === "similarity" ? ["numerical", "percentage"] : ["boolean"];
  return ["boolean", "numerical", "percentage", "single_select", "multi_select", "text", "json"];
}

/** A change of kind or rule selects the first supported value type if the previous one is not supported. */
export function withChange(draft: Draft, change: Partial<Draft>): Draft {
  const next = { ...draft, ...change };
  const types = valueTypesOf(next.kind, next.rule);
  const valueType = types.includes(next.valueType) ? next.valueType : (types[0] ?? "boolean");
  if (valueType === draft.valueType || next.passes === "kept") return { ...next, valueType };
  return { ...next, valueType, passes: "none", passesAt: "" };
}

export function draftOf(evaluator: Evaluator | undefined): Draft {
  const rule: Record<string, unknown> = { ...evaluator?.rule_config };
  const text = (name: string): string => (typeof rule[name] === "string" ? rule[name] : "");
  const { score_config: score = {}, llm_config: llm, code_config: code } = evaluator ?? {};
  return {
    base: evaluator,
    name: evaluator?.name ?? "",
    slug: evaluator?.evaluator_slug ?? "",
    description: evaluator?.description ?? "",
    kind: evaluator?.type ?? "rule",
    valueType: evaluator?.score_value_type ?? "boolean",
    rule: evaluator?.rule_config?.rule ?? "contains",
    target: rule["target"] === "input" ? "input" : "output",
    pattern: text("pattern"),
    flags: text("flags"),
    texts: [rule["text"]]
      .flat()
      .filter((each) => typeof each === "string")
      .join("\n"),
    match: rule["match"] === "all" ? "all" : "any",
    isCaseSensitive: rule["case_sensitive"] === true,
    schema: JSON.stringify(rule["schema"] ?? { type: "object" }, undefined, 2),
    expected: text("expected"),
    code: code?.eval_code_snippet ?? firstCode,
    model: llm?.model ?? "",
    prompt: llm?.evaluator_definition ?? firstPrompt,
    rubric: llm?.scoring_rubric ?? "",
    min: numberText(score.min_score),
    max: numberText(score.max_score),
    choices: (score.choices ?? []).map(({ name }) => name).join("\n"),
    ...passingOf(evaluator?.passing_conditions ?? null),
  };
}

const numberText = (value: number | undefined): string => (value === undefined ? "" : String(value));

const comparisons = ["gte", "gt", "lte", "lt", "equals"] as const;

/** The passing condition, if it is one comparison with one value. */
function passingOf(conditions: Record<string, unknown> | null): Pick<Draft, "passes" | "passesAt"> {
  if (conditions === null) return { passes: "none", passesAt: "" };
  const { primary_score: score, ...others } = conditions;
  if (!isRecord(score) || Object.keys(others).length > 0) return { passes: "kept", passesAt: "" };
  const { operator, value } = score;
  const [only, ...more] = [value].flat();
  const passes = operator === undefined || operator === "" ? "equals" : comparisons.find((each) => each === operator);
  const isPlain = ["string", "number", "boolean"].includes(typeof only) && more.length === 0;
  return passes === undefined || !isPlain ? { passes: "kept", passesAt: "" } : { passes, passesAt: String(only) };
}

export type Problems = Readonly<Record<string, readonly string[]>>;

/** Errors inside a configuration are shown at the configuration. */
export function byMember(problems: Problems): Problems {
  const found: Record<string, string[]> = {};
  for (const [path, texts] of Object.entries(problems)) {
    const [member = path] = path.split(".");
    found[member] = [...(found[member] ?? []), ...texts];
  }
  return found;
}

type Read = { ok: true; body: Record<string, unknown> } | { ok: false; problems: Problems };

/** The request body of a draft. Problems have the API's field names. */
export function readDraft(draft: Draft): Read {
  const problems: Record<string, string[]> = {};
  const body = {
    name: draft.name.trim(),
    description: draft.description,
    type: draft.kind,
    score_value_type: draft.valueType,
    score_config: scoreConfigOf(draft, problems),
    ...(draft.passes !== "kept" && { passing_conditions: conditionsOf(draft, problems) }),
    ...(draft.kind === "rule" && { rule_config: ruleOf(draft, problems) }),
    ...(draft.kind === "code" && {
      code_config: { ...draft.base?.code_config, eval_code_snippet: draft.code },
    }),
    ...(draft.kind === "llm" && { llm_config: judgeOf(draft) }),
    ...(draft.base === undefined && { evaluator_slug: draft.slug.trim() || slugOf(draft.name, "evaluator") }),
  };
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, body };
}

function judgeOf({ base, model, prompt, rubric }: Draft): object {
  const { scoring_rubric: _, ...rest } = base?.llm_config ?? {};
  return {
    ...rest,
    model: model.trim(),
    evaluator_definition: prompt,
    ...(rubric !== "" && { scoring_rubric: rubric }),
  };
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

function scoreConfigOf(draft: Draft, problems: Record<string, string[]>): object {
  if (draft.valueType === "numerical") {
    const limits = Object.entries({ min_score: draft.min, max_score: draft.max }).filter(([, text]) => text.trim());
    if (limits.some(([, text]) => !Number.isFinite(Number(text)))) problems["score_config"] = ["Limits are numbers."];
    return Object.fromEntries(limits.map(([name, text]) => [name, Number(text)]));
  }
  if (draft.valueType !== "single_select" && draft.valueType !== "multi_select") return {};
  const known = draft.base?.score_config.choices ?? [];
  const choices = linesOf(draft.choices).map((line) => {
    const name = line.trim();
    return known.find((choice) => choice.name === name) ?? { name };
  });
  if (choices.length === 0) problems["score_config"] = ["At least one choice."];
  return { choices };
}

function conditionsOf({ passes, passesAt, valueType }: Draft, problems: Record<string, string[]>): object | null {
  if (passes === "none") return null;
  const text = passesAt.trim();
  const isNumber = valueType === "numerical" || valueType === "percentage";
  if (text === "" || (isNumber && !Number.isFinite(Number(text)))) {
    problems["passing_conditions"] = [isNumber ? "A number." : "A value."];
  }
  const value = isNumber ? Number(text) : valueType === "boolean" ? text === "true" : text;
  return { primary_score: { ...(passes !== "equals" && { operator: passes }), value } };
}

function ruleOf(draft: Draft, problems: Record<string, string[]>): object {
  const { rule, target } = draft;
  switch (rule) {
    case "regex":
      return { rule, target, pattern: draft.pattern, ...(draft.flags !== "" && { flags: draft.flags }) };
    case "contains":
      return {
        rule,
        target,
        text: linesOf(draft.texts),
        match: draft.match,
        case_sensitive: draft.isCaseSensitive,
      };
    case "similarity":
      return { rule, target, ...(draft.expected !== "" && { expected: draft.expected }) };
    case "json_schema":
    default:
      return { rule, target, schema: schemaOf(draft.schema, problems) };
  }
}

function schemaOf(text: string, problems: Record<string, string[]>): Record<string, unknown> {
  try {
    const schema: unknown = JSON.parse(text);
    if (isRecord(schema)) return schema;
  } catch {
    // Reported below.
  }
  problems["rule_config"] = ["The schema is not a JSON object."];
  return {};
}
