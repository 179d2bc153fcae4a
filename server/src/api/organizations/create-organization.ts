import { z } from "zod";
import { makeOrganization, makeUser } from "../../auth/make-organization.ts";
import type { Passwords } from "../../auth/passwords.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { emailSchema, newPasswordSchema } from "../auth/schemas.ts";
import { nameSchema, organizationSchema } from "./schemas.ts";

const bodySchema = z
  .object({ name: nameSchema, admin_email: emailSchema.optional(), admin_password: newPasswordSchema.optional() })
  .refine((body) => (body.admin_email === undefined) === (body.admin_password === undefined), {
    path: ["admin_password"],
    error: "admin_email and admin_password are given together or not at all",
  });

export const createOrganization = (deps: {
  stores: Pick<ControlStores, "transaction">;
  passwords: Pick<Passwords, "hash">;
  nowMs: () => number;
}) =>
  endpoint({
    id: "create_organization",
    method: "POST",
    path: "/api/organizations/",
    summary: "Create an organization with a key for each environment",
    description:
      "For instance admins. The keys are shown only once. With `admin_email` and `admin_password` the organization gets its first user.",
    tags: ["Organizations"],
    auth: "user",
    isAudited: true,
    limit: "api",
    body: { kind: "json", schema: bodySchema, shown: organizationSchema, example: { name: "Second team" } },
    success: {
      status: 201,
      schema: z.object({
        unique_organization_id: z.string(),
        name: z.string(),
        keys: z.object({ prod: z.string(), test: z.string() }),
      }),
    },
    errors: ["forbidden", "conflict", "unavailable"],
    handler: async ({ principal, body, signal }) => {
      if (!principal.is_instance_admin) {
        throw new ServiceError("forbidden", "Only an instance admin makes organizations.");
      }
      const { name, admin_email, admin_password } = body;
      const turn = { party: principal.organization_id, signal };
      const password_hash = admin_password === undefined ? undefined : await deps.passwords.hash(admin_password, turn);
      const nowMs = deps.nowMs();

      const { organization, keys } = await deps.stores.transaction(async (stores) => {
        const created = await makeOrganization(stores, { name, nowMs });
        if (admin_email !== undefined && password_hash !== undefined) {
          const { unique_organization_id } = created.organization;
          const person = { unique_organization_id, email: admin_email, password_hash, is_instance_admin: false };
          await makeUser(stores, { ...person, role: "admin", nowMs });
        }
        return created;
      });
      return { unique_organization_id: organization.unique_organization_id, name: organization.name, keys };
    },
  });
