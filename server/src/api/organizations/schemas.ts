import { z } from "zod";
import { apiLimits } from "../limits.ts";

/**
 * People read names and distinguish them by sight: texts that look the same are stored as the same text (NFC). Control
 * characters would break displays, and NUL the database; direction overrides would make a name look like another. Lone
 * surrogates are read as U+FFFD.
 */
export function displayName(maxChars: number) {
  return z
    .string()
    .normalize("NFC")
    .trim()
    .min(1)
    .max(maxChars)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, "must not contain control characters")
    .regex(/^[^\u202A-\u202E\u2066-\u2069]*$/u, "must not contain characters that turn the direction of writing")
    .regex(/^[^\uFFFD]*$/u, "must not hold half a character (a surrogate alone, or U+FFFD)")
    .regex(/[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|^$/u, "must have a character that can be seen");
}

export const nameSchema = displayName(apiLimits.displayNameChars);

export const organizationSchema = z.object({
  id: z.int(),
  unique_organization_id: z.string().meta({ description: "The public id, part of share links." }),
  name: z.string(),
  retention_days: z
    .int()
    .nullable()
    .meta({ description: "Days for which spans are stored; null: the instance's setting, 0: forever." }),
  test_uses_prod_providers: z.boolean().meta({
    description: "Whether gateway calls of test keys use the provider settings of prod if test has none.",
  }),
  created_at: z.string().meta({ format: "date-time" }),
  blocked_at: z
    .string()
    .nullable()
    .meta({ format: "date-time", description: "Since when an operator has blocked it from writing; otherwise null." }),
});
