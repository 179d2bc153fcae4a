import { makeApiKey } from "../auth/make-api-key.ts";
import type { ApiKey } from "../domain/api-key.ts";
import { defaultKeyPermissions, keyPermissions, type Permission } from "../domain/permissions.ts";
import { ServiceError } from "../domain/errors.ts";
import { environments } from "../domain/principal.ts";
import { limits } from "../limits.ts";
import { UsageError, type Command } from "./command.ts";
import { findOrganization, organizationOption } from "./organization-commands.ts";

export const keyCommands: Command[] = [
  {
    name: "keys create",
    summary: "make an API key, shown this once",
    options: {
      organization: organizationOption,
      environment: { value: environments.join("|"), description: "where it works", required: true },
      name: { value: "NAME", description: "how people call it", required: true },
      permissions: { value: "LIST", description: `by comma, of ${keyPermissions.join(", ")}; all by default` },
    },
    run: async ({ stores, nowMs }, options) => {
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      const { secret, record } = makeApiKey({
        unique_organization_id,
        name: options.text("name"),
        environment: options.oneOf("environment", environments),
        permissions: permissionList(options.optional("permissions")),
        user_id: null,
        expires_at: null,
        createdAtMs: nowMs(),
      });
      return { ...present(await stores.apiKeys.create(record)), key: secret };
    },
  },
  {
    name: "keys list",
    summary: "list an organization's API keys",
    options: { organization: organizationOption },
    run: async ({ stores }, options) => {
      const { unique_organization_id } = await findOrganization(stores.organizations, options.text("organization"));
      return (await stores.apiKeys.list(unique_organization_id)).map(present);
    },
  },
  {
    name: "keys revoke",
    summary: `end an API key; servers that run mind it within ${limits.cachedKeyMs / 1000} seconds`,
    options: {
      organization: organizationOption,
      id: { value: "KEY_ID", description: "as `keys list` shows it", required: true },
    },
    run: async ({ stores, nowMs }, options) => {
      const id = options.text("id");
      const revoked_at = new Date(nowMs()).toISOString();
      const hash = await stores.apiKeys.revoke(options.text("organization"), id, revoked_at);
      if (hash === undefined) throw new ServiceError("not_found", `The organization has no key ${id}.`);
      return { id, revoked_at };
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

function present({ id, name, environment, prefix, permissions, created_at }: ApiKey) {
  return { id, name, environment, prefix, permissions, created_at };
}
