/** Who is calling, and what they may do. Created by authentication, read by everything behind it. */

import { ServiceError } from "./errors.ts";
import type { Permission, Role } from "./permissions.ts";

export const environments = ["prod", "test"] as const;
export type Environment = (typeof environments)[number];

type PrincipalBase = {
  /** The public id (`unique_organization_id`), used to scope every query. */
  organization_id: string;
  /** Including all that they imply. */
  permissions: ReadonlySet<Permission>;
};

export type KeyPrincipal = PrincipalBase & {
  kind: "key";
  environment: Environment;
  organization_key_id: string;
  organization_key_name: string;
  /** The person who acts by a temporary key. */
  user_id?: string;
};

export type UserPrincipal = PrincipalBase & {
  kind: "user";
  user_id: string;
  email: string;
  role: Role;
  is_instance_admin: boolean;
};

export type Principal = KeyPrincipal | UserPrincipal;

/** @param parameter the part of the request that requires the permission, if the route itself does not */
export function requirePermission(principal: Principal, permission: Permission, parameter?: string): void {
  if (principal.permissions.has(permission)) return;
  const taker = parameter === undefined ? "" : `, which ${parameter} takes`;
  throw new ServiceError("forbidden", `This credential lacks the permission ${permission}${taker}.`);
}

/**
 * A key only changes objects of its own environment; objects of both are changed by prod keys and people.
 * @param what names the object, as in "this customer"
 */
export function requireOwnEnvironment(principal: Principal, environment: Environment | null, what: string): void {
  if (principal.kind === "user" || principal.environment === (environment ?? "prod")) return;
  throw notOwn(principal, `${what} is of ${environment ?? "both environments"}`);
}

/**
 * The environment that a request writes to, which it may name: for a key its own; undefined for a person who names
 * none.
 */
export function writtenEnvironment(principal: KeyPrincipal, named: Environment | "all" | undefined): Environment;
export function writtenEnvironment(
  principal: Principal,
  named: Environment | "all" | undefined,
): Environment | undefined;
export function writtenEnvironment(
  principal: Principal,
  named: Environment | "all" | undefined,
): Environment | undefined {
  if (principal.kind === "user") return named === "all" ? undefined : named;
  if (named === undefined || named === principal.environment) return principal.environment;
  throw notOwn(principal, `the request names environment=${named}`);
}

function notOwn({ environment }: KeyPrincipal, why: string): ServiceError {
  return new ServiceError(
    "forbidden",
    `This key is of the environment ${environment} and changes nothing elsewhere: ${why}.`,
  );
}
