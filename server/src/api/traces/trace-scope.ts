import { ServiceError } from "../../domain/errors.ts";
import { environments, type Environment } from "../../domain/principal.ts";
import type { StoredTrace } from "../../storage/spans/trace-queries.ts";

export function traceNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no trace with this trace_unique_id.");
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** The environments in which a key looks for a trace: its own, then the other one. */
export function environmentsFrom(first: Environment): Environment[] {
  return [first, ...environments.filter((environment) => environment !== first)];
}

/** The items of the searched environments, in the order of these. */
export function inOrder<T extends { environment: string }>(
  found: readonly T[],
  environments: readonly Environment[],
): T[] {
  return environments.flatMap((wanted) => found.filter(({ environment }) => environment === wanted));
}

/** The store only contains environments of keys. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
