import { z } from "zod";
import { makeApiKey } from "../../auth/make-api-key.ts";
import { defaultKeyPermissions } from "../../domain/permissions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { environments } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { expirySchema } from "../api-keys/schemas.ts";
import { nameSchema } from "../organizations/schemas.ts";

const unlimited = -1;
const longestS = apiLimits.temporaryKeyMaxMs / 1000;

/** Members of other products' APIs. They are refused: a key that ignored them would allow more than requested. */
const notTaken = (instead: string) =>
  z
    .union([z.null(), z.literal(unlimited)], { error: `is not supported: ${instead}` })
    .optional()
    .meta({ deprecated: true, description: "Accepted only without effect: null or -1." });

const bodySchema = z.strictObject({
  environment: z.enum(environments).optional(),
  is_test: z.boolean().optional().meta({ description: "Instead of environment." }),
  name: nameSchema.optional().meta({ description: "Default: the caller's e-mail address." }),
  expires_in: z
    .int({ error: `must be a whole number of seconds, at most ${longestS}` })
    .min(1, { error: "must be at least 1 second" })
    .max(longestS, { error: `must be at most ${longestS} seconds` })
    .nullable()
    .optional()
    .meta({ description: "Lifetime in seconds; 3600 by default." }),
  expiry_date: expirySchema.optional().meta({ description: "Instead of expires_in: when it ends." }),
  max_usage: z
    .union([z.literal(unlimited), z.int().min(1).max(apiLimits.temporaryKeyUsageMax)], {
      error: `must be a whole number of requests from 1 to ${apiLimits.temporaryKeyUsageMax}, or -1 for any number`,
    })
    .nullable()
    .optional()
    .meta({ description: "Number of requests that the key allows; -1 or null: no limit." }),
  rate_limit: notTaken("limit the customer that the calls name"),
  spending_limit: notTaken("give the customer that the calls name a budget"),
});

export const createTemporaryKey = (deps: { stores: Pick<ControlStores, "transaction">; nowMs: () => number }) =>
  endpoint({
    id: "create_temporary_key",
    method: "POST",
    path: "/api/temporary-keys/",
    summary: "Exchange an access token for a key of one environment",
    description:
      "The key is valid for an hour by default, and has the permissions of its user's role. It ends when the user is " +
      "removed or gets another role or password.",
    tags: ["API keys"],
    auth: "user",
    isAudited: true,
    limit: "api",
    body: { kind: "json", schema: bodySchema, example: { environment: "prod", expires_in: 600, max_usage: 100 } },
    success: {
      status: 201,
      schema: z.object({
        id: z.string(),
        key: z.string(),
        environment: z.enum(environments),
        expires_at: z.string().meta({ format: "date-time" }),
        max_usage: z.int().nullable(),
      }),
    },
    errors: ["invalid_request", "conflict"],
    handler: async ({ principal, body }) => {
      const nowMs = deps.nowMs();
      const environment = environmentOf(body);
      const expires_at = expiryOf(body, nowMs);
      const max_usage = body.max_usage === unlimited ? null : (body.max_usage ?? null);
      const { secret, record } = makeApiKey({
        unique_organization_id: principal.organization_id,
        name: body.name ?? principal.email,
        environment,
        permissions: defaultKeyPermissions(principal.permissions),
        user_id: principal.user_id,
        expires_at,
        max_usage,
        createdAtMs: nowMs,
      });
      const { id } = await deps.stores.transaction(async ({ users, apiKeys }) => {
        if (await users.lock(principal.user_id, { role: principal.role })) return apiKeys.create(record);
        throw new ServiceError("conflict", "Your role changed during this request. Try again.");
      });
      return { id, key: secret, environment, expires_at, max_usage };
    },
  });

type Body = z.output<typeof bodySchema>;

function environmentOf({ environment, is_test }: Body): "prod" | "test" {
  const requested = is_test === undefined ? environment : is_test ? "test" : "prod";
  if (requested === undefined) throw refused("environment", "is required");
  if (environment !== undefined && environment !== requested) throw refused("is_test", "contradicts environment");
  return requested;
}

function expiryOf({ expires_in, expiry_date }: Body, nowMs: number): string {
  const hasPeriod = expires_in !== undefined && expires_in !== null;
  if (expiry_date === undefined || expiry_date === null) {
    return new Date(nowMs + (hasPeriod ? expires_in * 1000 : apiLimits.temporaryKeyMs)).toISOString();
  }
  if (hasPeriod) throw refused("expiry_date", "and expires_in say the same: send one of them");
  const endsMs = Date.parse(expiry_date);
  if (endsMs <= nowMs) throw refused("expiry_date", "must lie in the future");
  if (endsMs > nowMs + apiLimits.temporaryKeyMaxMs) {
    throw refused("expiry_date", `must lie within ${apiLimits.temporaryKeyMaxMs / 86_400_000} days`);
  }
  return expiry_date;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${field} ${message}.`, { errors: { [field]: [message] } });
}
