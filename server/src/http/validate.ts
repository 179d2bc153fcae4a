import { z } from "zod";
import { ServiceError, wholeBody, type FieldErrors } from "../domain/errors.ts";
import { isObject } from "../lib/json.ts";
import { domainLimits } from "../domain/limits.ts";
import { httpLimits } from "./limits.ts";
import { validationWords } from "./validation-words.ts";

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

/** Validates the parameters of a URL. An empty text counts as absent. */
export function validateQuery(schema: z.ZodType, query: unknown): unknown {
  const given = Object.entries(query as Record<string, unknown>).filter(([, value]) => value !== "");
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
