import { randomUUID } from "node:crypto";
import type { Environment } from "../domain/principal.ts";
import { randomToken } from "../lib/random-token.ts";
import type { NewApiKey } from "../storage/control/api-key-store.ts";
import { hashApiKey } from "./authenticator.ts";

const randomChars = 32;

/** `spw_prod_…` with 190 random bits. The absence of a dot distinguishes a key from a JWT. */
function newSecret(environment: Environment): string {
  return `spw_${environment}_${randomToken(randomChars)}`;
}

/**
 * Creates a key record, and its secret, which is stored nowhere. @param secret given by the operator; generated if
 * absent.
 */
export function makeApiKey(
  {
    createdAtMs,
    max_usage = null,
    ...key
  }: Omit<NewApiKey, "id" | "hash" | "prefix" | "created_at" | "max_usage"> & {
    createdAtMs: number;
    max_usage?: number | null;
  },
  secret = newSecret(key.environment),
): { secret: string; record: NewApiKey } {
  return {
    secret,
    record: {
      ...key,
      max_usage,
      id: randomUUID(),
      hash: hashApiKey(secret),
      // At most a third of a short key given by the operator is shown.
      prefix: secret.slice(0, Math.min(13, Math.floor(secret.length / 3))),
      created_at: new Date(createdAtMs).toISOString(),
    },
  };
}
