import { z } from "zod";
import { limits } from "../../limits.ts";

/** Names are shown to people; control characters would break what shows them, and a NUL the database. */
export const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(limits.displayNameChars)
  .regex(/^\P{Cc}*$/u, "must not contain control characters");

export const organizationSchema = z.object({
  id: z.int(),
  unique_organization_id: z.string().meta({ description: "The public id, part of share links." }),
  name: z.string(),
  retention_days: z
    .int()
    .nullable()
    .meta({ description: "Days spans are kept; null follows the instance's setting, 0 keeps them for ever." }),
  test_uses_prod_providers: z.boolean().meta({
    description: "Whether gateway calls of test keys use the provider settings of prod where test has none.",
  }),
  created_at: z.string().meta({ format: "date-time" }),
  blocked_at: z
    .string()
    .nullable()
    .meta({ format: "date-time", description: "Since when an operator keeps it from writing; else null." }),
});
