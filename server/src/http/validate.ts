import { z } from "zod";
import { ServiceError, wholeBody, type FieldErrors } from "../domain/errors.ts";
import { domainLimits } from "../domain/limits.ts";
import { isObject } from "../lib/json.ts";
import { httpLimits } from "./limits.ts";

const unknownMember = "is not a field here";

/**
 * Validates a query string or a JSON body. Throws `code` with the errors by field, the first of them in the message.
 */
export function validate(
  schema: z.ZodType,
  value: unknown,
  code: "invalid_request" | "validation_failed" = "invalid_request",
): unknown {
  return check(schema, value, code, validationWords);
}

/**
 * Validates the parameters of a URL. An empty text counts as absent, but the result has a member for it: readers of
 * filters in the URL must know that it is a parameter.
 */
export function validateQuery(schema: z.ZodType, query: unknown): unknown {
  const given = Object.entries(query as Record<string, unknown>).map(([name, value]) => [name, value || undefined]);
  return check(schema, Object.fromEntries(given), "invalid_request", queryWords);
}

/** A parameter that is given more than once is a list. */
function queryWords(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === "invalid_type" && Array.isArray(issue.input) ? "must be given once" : validationWords(issue);
}

function check(
  schema: z.ZodType,
  value: unknown,
  code: "invalid_request" | "validation_failed",
  error: typeof validationWords,
): unknown {
  const result = schema.safeParse(value, { error });
  if (result.success) return result.data;
  const errors = fieldErrors(result.error);
  const [field, messages] = Object.entries(errors)[0] ?? [wholeBody, []];
  const message = messages[0] ?? "The request is not valid.";
  throw new ServiceError(code, message.includes(field) ? message : `${field}: ${message}`, { errors });
}

/** Refuses a body with members that no schema has, naming each of them. */
export function refuseUnknown(
  body: unknown,
  schemas: readonly z.ZodType[],
  code: "invalid_request" | "validation_failed" = "invalid_request",
): void {
  if (!isObject(body)) return;
  const known = new Set(schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])));
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const names = unknown
    .map((name) => name.slice(0, domainLimits.identifierChars))
    .slice(0, httpLimits.unknownMembersNamed);
  const errors = Object.fromEntries(names.map((name) => [name, [unknownMember]]));
  throw new ServiceError(code, `${names[0] ?? ""} ${unknownMember}.`, { errors });
}

/** `{ "filters.cost.value": ["…"] }`; an error of the whole value has the key `body`. */
function fieldErrors(error: z.ZodError): FieldErrors {
  const errors: FieldErrors = {};
  for (const issue of error.issues) {
    if (issue.code !== "unrecognized_keys") {
      (errors[issue.path.map(String).join(".") || wholeBody] ??= []).push(issue.message);
      continue;
    }
    for (const name of issue.keys.slice(0, httpLimits.unknownMembersNamed)) {
      errors[[...issue.path.map(String), name.slice(0, domainLimits.identifierChars)].join(".")] = [unknownMember];
    }
  }
  return errors;
}

/** The error message for a value whose schema has no message of its own; undefined leaves it to the library. */
function validationWords(issue: z.core.$ZodRawIssue): string | undefined {
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
