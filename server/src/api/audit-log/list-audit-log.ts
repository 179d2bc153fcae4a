import { z } from "zod";
import { actorTypes } from "../../domain/audit.ts";
import { environments } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery, timeWindowQuery } from "../../http/query.ts";
import { authLimits } from "../../auth/limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import { jobsLimits } from "../../jobs/limits.ts";
import { storageLimits } from "../../storage/limits.ts";
import type { AuditStore } from "../../storage/control/audit-store.ts";

const time = z.string().meta({ format: "date-time" });
const text = z.string().nullable();

const entrySchema = z
  .object({
    id: z.string(),
    created_at: time,
    actor_type: z.enum(actorTypes),
    actor_id: text.meta({ description: "Id of the user or API key; null for an operator." }),
    actor_name: z.string().meta({ description: "The e-mail address, or the name of the key, at that time." }),
    action: z.string().meta({ description: "The operation of this reference, or the command of `npm run admin`." }),
    target: text.meta({ description: "The id of the target of the action." }),
    environment: z.enum(environments).nullable(),
    changes: z.record(z.string(), z.unknown()).meta({
      description: "The members that were sent; null replaces a value that is not stored, because it may be secret.",
    }),
    ip: text,
    request_id: text.meta({ description: "The x-request-id of the response." }),
  })
  .meta({ id: "AuditEntry" });

const filter = z.string().max(domainLimits.identifierChars).optional();

export const listAuditLog = (deps: { auditLog: Pick<AuditStore, "list"> }) =>
  endpoint({
    id: "list_audit_log",
    method: "GET",
    path: "/api/audit-log/",
    summary: "List the audit log",
    description:
      `Successful management actions, newest first: changes of members, keys, settings, customers and traces. Includes wrong passwords of known accounts (\`failed_login\`), at most one an hour for each account and ${authLimits.failedLoginAuditsPerDay} a day. Kept for ${jobsLimits.auditDays} days, ` +
      `at most ${storageLimits.auditEntriesPerOrganization} of them. Without start_time and end_time, all entries are returned.`,
    tags: ["Members"],
    auth: "user",
    permission: "audit:read",
    limit: "api",
    query: z.object({
      ...pagingQuery(),
      ...timeWindowQuery(),
      actor: filter.meta({ description: "Id or name of the actor." }),
      action: filter,
      target: filter,
    }),
    success: { status: 200, schema: pageOf(entrySchema) },
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize, actor, action, target } = query;
      const wanted = { actor, action, target, from: isoOf(query.start_time), to: isoOf(query.end_time) };
      const { count, entries } = await deps.auditLog.list(principal.organization_id, wanted, { page, pageSize });
      const results = entries.map(({ unique_organization_id: _own, ...entry }) => entry);
      return paginate({ url, query, page, pageSize, count, results });
    },
  });

function isoOf(ns: bigint | undefined): string | undefined {
  return ns === undefined ? undefined : new Date(Number(ns / 1_000_000n)).toISOString();
}
