import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { StoredTrace } from "../../storage/spans/span-store.ts";

export function traceNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no trace with this trace_unique_id.");
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** The store only holds environments that keys had. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
