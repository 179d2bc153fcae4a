import type { z } from "zod";

/** What is wrong with a member, where its schema has no words of its own; undefined leaves it to the library. */
export function validationWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_type" && issue.code !== "invalid_value") return undefined;
  if (issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${typeWords[issue.expected] ?? issue.expected}`;
  const values = issue.values.map((value) => JSON.stringify(value));
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`;
}

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
