import type { z } from "zod";

/** The error message for a value whose schema has no message of its own; undefined leaves it to the library. */
export function validationWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "too_small") return atLeast(issue);
  if (issue.code === "too_big") return atMost(issue);
  if (issue.code !== "invalid_type" && issue.code !== "invalid_value") return undefined;
  if (issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${typeWords[issue.expected] ?? issue.expected}`;
  const values = issue.values.map((value) => JSON.stringify(value));
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`;
}

function atLeast({ origin, minimum, inclusive = true }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  const unit = units[origin];
  if (unit === undefined) return inclusive ? `must be at least ${minimum}` : `must be more than ${minimum}`;
  return Number(minimum) === 1 ? "must not be empty" : `must have at least ${minimum} ${unit}`;
}

function atMost({ origin, maximum, inclusive = true }: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>): string {
  const unit = units[origin];
  if (unit !== undefined) return `must have at most ${maximum} ${unit}`;
  return inclusive ? `must be at most ${maximum}` : `must be less than ${maximum}`;
}

/** The unit of each kind of value that has a length. */
const units: Partial<Record<string, string>> = {
  string: "characters",
  array: "entries",
  set: "entries",
  map: "entries",
  object: "members",
};

const typeWords: Partial<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
};
