import { ServiceError } from "../../../domain/errors.ts";

/** Refuses a request because of one member, named by its path: `messages.3.content.0.image_url`. */
export function refuse(path: string, message: string): never {
  throw new ServiceError("invalid_request", `${path}: ${message}`, { errors: { [path]: [message] } });
}

/** The members of a body that are not null: clients write null for absent values. */
export function presentMembers(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined));
}
