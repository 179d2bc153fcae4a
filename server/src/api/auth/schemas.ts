import { z } from "zod";
import { apiLimits } from "../limits.ts";
import { domainLimits } from "../../domain/limits.ts";

/** The response of both ways of signing in. */
export const tokenPairSchema = z.object({
  access: z.string().meta({ description: "Bearer token of a person, for the routes that accept one." }),
  refresh: z.string().meta({ description: "Accepted by `POST /api/auth/refresh/` only." }),
  expires_in: z.int().meta({ description: "Seconds until `access` expires." }),
});

/** The response to signing in with `session: true`. */
export const browserSessionSchema = z.object({
  expires_in: z.number().meta({ description: "Seconds until the session ends if it is not used." }),
  ends_at: z.string().meta({ format: "date-time", description: "When it ends in any case." }),
});

export const emailSchema = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, "must be an e-mail address");

/** Lone surrogates are read as U+FFFD, so passwords that differ only in them would be equal. */
export const newPasswordSchema = z
  .string()
  .min(domainLimits.passwordCharsMin)
  .max(apiLimits.passwordChars)
  .regex(/\S/, "must not be blank")
  .regex(/^[^\uFFFD]*$/, "must not hold half a character (a surrogate alone, or U+FFFD)");
