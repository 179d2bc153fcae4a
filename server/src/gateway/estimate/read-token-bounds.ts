import { ServiceError } from "../../domain/errors.ts";

const bounds = ["max_tokens", "max_completion_tokens", "max_output_tokens", "n"];

/**
 * Requires whole numbers for limits on generated tokens. The budget reservation depends on them, so no provider may
 * read them differently.
 * @throws ServiceError `invalid_request` naming the parameter
 */
export function checkTokenBounds(members: Record<string, unknown>): void {
  for (const name of bounds) {
    const value = members[name];
    if (value === undefined || value === null) continue;
    if (Number.isSafeInteger(value) && (value as number) > 0) continue;
    const message = "must be a whole number of at least 1";
    throw new ServiceError("invalid_request", `${name} ${message}.`, { errors: { [name]: [message] } });
  }
}
