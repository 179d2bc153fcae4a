/** What a caller may do. Keys, roles, routes, the API reference and docs/permissions.md derive from this table. */

export const roles = ["admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

export const permissions = [
  "spans:write",
  "spans:ingest",
  "spans:read",
  "analytics:read",
  "gateway:call",
  "scores:write",
  "scores:read",
  "traces:share",
  "traces:delete",
  "customers:read",
  "customers:write",
  "automations:read",
  "automations:write",
  "webhooks:read",
  "webhooks:write",
  "alerts:read",
  "alerts:write",
  "views:write",
  "providers:read",
  "providers:write",
  "prices:read",
  "prices:write",
  "settings:write",
  "keys:manage",
  "members:read",
  "members:manage",
  "audit:read",
] as const;
export type Permission = (typeof permissions)[number];

type PermissionSpec = {
  /** Description for people. */
  allows: string;
  roles: readonly Role[];
  /** Permissions that it includes: names of version 0.1 keep everything that they allowed then. */
  includes?: readonly Permission[];
  /** Only people manage people and keys: no key can have it. */
  isForPeople?: true;
};

const everybody = roles;
const editors = ["admin", "member"] as const;
const admins = ["admin"] as const;

export const permissionTable: Readonly<Record<Permission, PermissionSpec>> = {
  "spans:write": {
    allows: "send spans and scores, and call models",
    roles: editors,
    includes: ["spans:ingest", "gateway:call", "scores:write"],
  },
  "spans:ingest": {
    allows: "send spans, traces and OTLP exports, with the results of evaluations that they hold",
    roles: editors,
  },
  "spans:read": {
    allows: "read spans, traces and threads, including their content",
    roles: everybody,
    includes: ["scores:read", "customers:read", "automations:read", "webhooks:read", "alerts:read", "prices:read"],
  },
  "analytics:read": {
    allows:
      "read sums by group and over time, and values of fields and metadata; filters may search the content of spans",
    roles: everybody,
  },
  "gateway:call": { allows: "call models through the gateway, which records the calls", roles: editors },
  "scores:write": {
    allows: "score logs, change and delete scores, note, pin and rate spans, and change their metadata",
    roles: editors,
  },
  "scores:read": { allows: "read scores", roles: everybody },
  "traces:share": { allows: "share a trace with everyone who has its link, and stop sharing it", roles: editors },
  "traces:delete": { allows: "delete traces", roles: editors },
  "customers:read": { allows: "read customers, their budgets and usage", roles: everybody },
  "customers:write": {
    allows: "create, change and delete customers, and set budgets and rate limits, also from a gateway call",
    roles: editors,
  },
  "automations:read": { allows: "read automations, conditions and evaluators", roles: everybody },
  "automations:write": {
    allows:
      "change and run automations, conditions and evaluators, whose code and judges get the content of spans and whose judges call models",
    roles: editors,
  },
  "webhooks:read": { allows: "read webhooks and their deliveries", roles: everybody },
  "webhooks:write": {
    allows: "change webhooks, which send spans with their content to their addresses, and read their secrets",
    roles: editors,
  },
  "alerts:read": { allows: "read alert rules, their states and history", roles: everybody },
  "alerts:write": {
    allows: "change and test alert rules, which send figures of spans to their channels",
    roles: editors,
  },
  "views:write": { allows: "save, change and delete views of the web application", roles: editors },
  "providers:read": { allows: "read provider settings, without their keys", roles: editors },
  "providers:write": { allows: "store, change and delete provider keys", roles: editors },
  "prices:read": { allows: "read model prices of the organization", roles: everybody },
  "prices:write": { allows: "change model prices of the organization", roles: editors },
  "settings:write": {
    allows: "all of the settings",
    roles: editors,
    includes: [
      "automations:write",
      "webhooks:write",
      "alerts:write",
      "views:write",
      "providers:read",
      "providers:write",
      "prices:write",
    ],
  },
  "keys:manage": { allows: "list, make, change and revoke API keys", roles: admins, isForPeople: true },
  "members:read": { allows: "see who is a member", roles: editors, isForPeople: true },
  "members:manage": { allows: "invite members, change their roles, remove them", roles: admins, isForPeople: true },
  "audit:read": { allows: "read the audit log", roles: admins, isForPeople: true },
};

/** All permissions that these names include. Unknown names grant nothing. */
export function expandPermissions(granted: Iterable<string>): Set<Permission> {
  const all = new Set<Permission>();
  const add = (permission: Permission): void => {
    if (all.has(permission)) return;
    all.add(permission);
    permissionTable[permission].includes?.forEach(add);
  };
  for (const name of granted) if (isPermission(name)) add(name);
  return all;
}

/** Management permissions: changes that need them are written to the audit log. */
export const auditedPermissions: ReadonlySet<Permission> = new Set([
  "traces:share",
  "traces:delete",
  "customers:write",
  "automations:write",
  "webhooks:write",
  "alerts:write",
  "providers:write",
  "prices:write",
  "settings:write",
  "keys:manage",
  "members:manage",
]);

/** Permissions to add data, which a blocked organization may not use. */
export const refusedToBlocked: ReadonlySet<Permission> = new Set(["spans:ingest", "gateway:call", "scores:write"]);

const known: ReadonlySet<string> = new Set(permissions);

function isPermission(name: string): name is Permission {
  return known.has(name);
}

/** The permissions of a role. A key has its own list, at most what its creator had. */
export function permissionsOfRole(role: Role): Set<Permission> {
  return new Set(permissions.filter((permission) => permissionTable[permission].roles.includes(role)));
}

/** The permissions that a key can have. */
export const keyPermissions: readonly Permission[] = permissions.filter(
  (permission) => permissionTable[permission].isForPeople !== true,
);

/** The permissions of a key whose creator has `held` and names none: all of these, in the fewest names. */
export function defaultKeyPermissions(granted: ReadonlySet<Permission>): Permission[] {
  const all = keyPermissions.filter((permission) => granted.has(permission));
  const included = new Set(all.flatMap((permission) => permissionTable[permission].includes ?? []));
  return all.filter((permission) => !included.has(permission));
}
