/** Who is calling, and what they may do. Made by authentication, read by everything behind it. */

export const environments = ["prod", "test"] as const;
export type Environment = (typeof environments)[number];

export const roles = ["admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

export const permissions = [
  "spans:write",
  "spans:read",
  "analytics:read",
  "traces:delete",
  "customers:write",
  "settings:write",
  "keys:manage",
] as const;
export type Permission = (typeof permissions)[number];

/** What a role may do. A key carries its own list, at most what its maker had. */
export const rolePermissions: Record<Role, readonly Permission[]> = {
  admin: permissions,
  member: ["spans:write", "spans:read", "analytics:read", "traces:delete", "customers:write", "settings:write"],
  viewer: ["spans:read", "analytics:read"],
};

type PrincipalBase = {
  /** The public id (`unique_organization_id`), used to scope every query. */
  organization_id: string;
  permissions: ReadonlySet<Permission>;
};

export type KeyPrincipal = PrincipalBase & {
  kind: "key";
  environment: Environment;
  organization_key_id: string;
  organization_key_name: string;
};

export type UserPrincipal = PrincipalBase & {
  kind: "user";
  user_id: string;
  email: string;
  role: Role;
  is_instance_admin: boolean;
};

export type Principal = KeyPrincipal | UserPrincipal;
