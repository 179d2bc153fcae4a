import { ServiceError } from "../../domain/errors.ts";
import { environments, type Environment } from "../../domain/principal.ts";
import type { StoredTrace } from "../../storage/spans/trace-queries.ts";

export function traceNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no trace with this trace_unique_id.");
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** Where a trace is looked for by a key: in the environment of the key, then in the other. */
export function environmentsFrom(first: Environment): Environment[] {
  return [first, ...environments.filter((environment) => environment !== first)];
}

/** What is of the environments that are looked in, in their order. */
export function inOrder<T extends { environment: string }>(
  found: readonly T[],
  environments: readonly Environment[],
): T[] {
  return environments.flatMap((wanted) => found.filter(({ environment }) => environment === wanted));
}

/** The store only holds environments that keys had. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
