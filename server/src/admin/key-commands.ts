import { makeApiKey } from "../auth/make-api-key.ts";
import type { ApiKey } from "../domain/api-key.ts";
import { defaultKeyPermissions, keyPermissions, type Permission } from "../domain/permissions.ts";
import { ServiceError } from "../domain/errors.ts";
import { environments } from "../domain/principal.ts";
import { authLimits } from "../auth/limits.ts";
import { UsageError, type Command } from "./command.ts";
import { noteOperator } from "./note-operator.ts";
import { findOnlyOrganization, findOrganization, organizationOption } from "./organization-commands.ts";

export const keyCommands: Command[] = [
  {
    name: "keys create",
    summary: "create an API key; it is shown only once",
    options: {
      organization: { ...organizationOption, required: false },
      environment: { value: environments.join("|"), description: "where it works; prod by default" },
      name: { value: "NAME", description: "its display name" },
      permissions: {
        value: "LIST",
        description: `comma-separated: ${keyPermissions.join(", ")}; all by default`,
      },
    },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const { unique_organization_id } = await findOnlyOrganization(
        stores.organizations,
        options.optional("organization"),
      );
      const { secret, record } = makeApiKey({
        unique_organization_id,
        name: options.optional("name") ?? "Made by an operator",
        environment: options.oneOf("environment", environments, "prod"),
        permissions: permissionList(options.optional("permissions")),
        user_id: null,
        expires_at: null,
        createdAtMs: nowMs(),
      });
      const made = present(await stores.apiKeys.create(record));
      const { environment, permissions } = record;
      const changes = { name: null, environment, permissions };
      await noteOperator(context, {
        organization: unique_organization_id,
        action: "keys create",
        target: made.id,
        changes,
      });
      return { ...made, key: secret };
    },
  },
  {
    name: "keys list",
    summary: "list an organization's API keys",
    options: { organization: organizationOption },
    run: async ({ stores, nowMs }, options) => {
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      return (await stores.apiKeys.list(unique_organization_id, new Date(nowMs()).toISOString())).map(present);
    },
  },
  {
    name: "keys revoke",
    summary: `revoke an API key; running servers apply it within ${authLimits.cachedKeyMs / 1000} seconds`,
    options: {
      organization: organizationOption,
      id: { value: "KEY_ID", description: "as `keys list` shows it", required: true },
    },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const id = options.text("id");
      const revoked_at = new Date(nowMs()).toISOString();
      const hash = await stores.apiKeys.revoke(options.text("organization"), id, revoked_at);
      if (hash === undefined) throw new ServiceError("not_found", `The organization has no key ${id}.`);
      await noteOperator(context, { organization: options.text("organization"), action: "keys revoke", target: id });
      return { id, revoked_at };
    },
  },
  {
    name: "keys expire",
    summary: "set when an API key expires, for example after a rotation",
    options: {
      organization: organizationOption,
      id: { value: "KEY_ID", description: "as `keys list` shows it", required: true },
      in: { value: "HOURS", description: "hours from now; `never` removes the expiry", required: true },
    },
    run: async (context, options) => {
      const { stores, nowMs } = context;
      const [organization, id] = [options.text("organization"), options.text("id")];
      const hours = options.text("in");
      if (hours !== "never" && !/^\d{1,6}(\.\d+)?$/.test(hours)) throw new UsageError("--in takes hours, or never");
      const endsMs = nowMs() + Number(hours) * 3_600_000;
      const expires_at = hours === "never" ? null : new Date(endsMs).toISOString();
      const now = new Date(nowMs()).toISOString();
      const changed = await stores.apiKeys.update(organization, id, { expires_at }, now);
      if (changed === undefined) throw new ServiceError("not_found", `The organization has no key ${id}.`);
      await noteOperator(context, { organization, action: "keys expire", target: id, changes: { expires_at } });
      return present(changed.key);
    },
  },
];

function permissionList(text: string | undefined): Permission[] {
  if (text === undefined) return defaultKeyPermissions(new Set(keyPermissions));
  return text.split(",").map((name) => {
    const permission = keyPermissions.find((candidate) => candidate === name.trim());
    if (permission === undefined) throw new UsageError(`--permissions takes ${keyPermissions.join(", ")}`);
    return permission;
  });
}

function present({ id, name, environment, prefix, permissions, created_at, expires_at, last_used_at }: ApiKey) {
  return { id, name, environment, prefix, permissions, created_at, expires_at, last_used_at };
}
