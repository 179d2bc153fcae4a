import type { z } from "zod";
import { ServiceError, type FieldErrors } from "../domain/errors.ts";

/** Checks a query string or a JSON body. Throws `code` with the problems by field, the first of them in the message. */
export function validate(
  schema: z.ZodType,
  value: unknown,
  code: "invalid_request" | "validation_failed" = "invalid_request",
): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = fieldErrors(result.error);
  const [field, messages] = Object.entries(errors)[0] ?? ["", []];
  const message = messages[0] ?? "The request is not valid.";
  throw new ServiceError(code, field === "" || message.includes(field) ? message : `${field}: ${message}`, { errors });
}

/** `{ "filters.cost.value": ["…"] }`; a problem of the whole is keyed `""`. */
function fieldErrors(error: z.ZodError): FieldErrors {
  const errors: FieldErrors = {};
  for (const issue of error.issues) {
    (errors[issue.path.map(String).join(".")] ??= []).push(issue.message);
  }
  return errors;
}
