import { z } from "zod";
import { parseTimeNs } from "../../lib/time.ts";
import { pricingLimits } from "../limits.ts";
import { isUnit, tokenBuckets, unitBuckets, type Bucket } from "../buckets.ts";

/** The fields of a price as callers send them. */

const name = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(/^\P{Cc}*$/u, "must not contain control characters");

const unitNames: Readonly<Record<Bucket, string>> = Object.fromEntries(
  [...tokenBuckets, ...unitBuckets].map((bucket) => [bucket, unitOf(bucket)]),
) as Record<Bucket, string>;

function unitOf(bucket: Bucket): string {
  return isUnit(bucket) ? `USD for each ${bucket.replaceAll("_", " ")}` : "USD per million tokens";
}

const rate = (bucket: Bucket) =>
  z
    .number()
    .min(0)
    .max(pricingLimits.costUsdMax)
    .optional()
    .meta({ description: `${unitNames[bucket]}.` });

const rates = z
  .strictObject(Object.fromEntries([...tokenBuckets, ...unitBuckets].map((bucket) => [bucket, rate(bucket)])))
  .refine((given) => Object.keys(given).length > 0, "must state a rate of at least one bucket")
  .transform((given) => given as Record<string, number>)
  .meta({
    id: "ModelRates",
    description:
      "What is counted and has no rate here has none: the cost is null, and the receipt says why. 0 is free. Reasoning is paid as output unless it has a rate of its own.",
  });

const timeMessage = "must be an ISO 8601 date or date-time, or null";

const time = (description: string) =>
  z
    .union([z.string(), z.number(), z.null()], { error: timeMessage })
    .transform((value, context) => {
      if (value === null || value === "") return null;
      const ns = parseTimeNs(value);
      if (ns !== undefined) return new Date(Number(ns / 1_000_000n)).toISOString();
      context.addIssue({ code: "custom", message: timeMessage });
      return z.NEVER;
    })
    .meta({ type: ["string", "null"], format: "date-time", description });

export const modelPriceFields = {
  model: name(pricingLimits.modelNameChars).min(1).meta({
    description:
      "The model's name; `*` stands for any characters. Upper and lower case are the same. A name without `*` comes first, then the pattern with most other characters.",
  }),
  provider: name(64).meta({
    description:
      "Only calls of this provider; an empty text: of any. `bedrock` becomes aws, `gemini` google: the names of the price tables.",
  }),
  rates,
  valid_from: time("The first moment at which it holds, by the end of a call. null: always did."),
  valid_to: time("The first moment at which it no longer holds. null: for ever."),
};

export const newModelPriceSchema = z.object({
  ...modelPriceFields,
  provider: modelPriceFields.provider.default(""),
  valid_from: modelPriceFields.valid_from.default(null),
  valid_to: modelPriceFields.valid_to.default(null),
});
