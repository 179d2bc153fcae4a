import { keyUses } from "./key-choices.ts";

type Permissions = readonly string[];

const resources: Readonly<Record<string, string>> = {
  spans: "spans",
  analytics: "figures",
  gateway: "models",
  scores: "scores",
  traces: "traces",
  customers: "customers",
  automations: "automations",
  webhooks: "webhooks",
  alerts: "alerts",
  views: "views",
  providers: "providers",
  prices: "prices",
  settings: "settings",
};

const verbs: Readonly<Record<string, string>> = {
  read: "read",
  write: "change",
  ingest: "send",
  call: "call",
  share: "share",
  delete: "delete",
};

/** A short description of permissions: the label of a preset, otherwise verbs with their resources. */
export function permissionWords(permissions: Permissions): string {
  const use = Object.values(keyUses).find(({ permissions: chosen }) => isSame(chosen ?? [], permissions));
  if (use !== undefined) return use.label;
  if (everything.every((each) => permissions.includes(each))) return keyUses.all.label;
  const byVerb = new Map<string, string[]>();
  for (const permission of permissions) {
    const [resource = "", verb = ""] = permission === "spans:write" ? ["spans", "ingest"] : permission.split(":");
    const words = byVerb.get(verb) ?? [];
    byVerb.set(verb, [...words, resources[resource] ?? resource]);
  }
  return [...byVerb].map(([verb, words]) => `${verbs[verb] ?? verb} ${words.join(", ")}`).join("; ");
}

/** The permissions of a key that may do everything, in the fewest names. */
const everything: Permissions = [
  "spans:write",
  "spans:read",
  "analytics:read",
  "traces:share",
  "traces:delete",
  "customers:write",
  "settings:write",
];

function isSame(some: Permissions, others: Permissions): boolean {
  return some.length === others.length && some.every((each) => others.includes(each));
}
