import { hash, randomUUID } from "node:crypto";
import type { Environment } from "../domain/principal.ts";
import { randomToken } from "../lib/random-token.ts";
import type { NewApiKey } from "../storage/control/api-key-store.ts";

const randomChars = 32;

/** `spw_prod_…` with 190 random bits, and no dot, by which a key is told from a JWT. */
function newSecret(environment: Environment): string {
  return `spw_${environment}_${randomToken(randomChars)}`;
}

/** SHA-256 in hex. A key has too much entropy to be guessed, so a fast hash without salt is as good as a slow one. */
export function hashApiKey(secret: string): string {
  return hash("sha256", secret);
}

/** A key to be stored, and its secret, which is nowhere else. @param secret given by the operator; made where absent. */
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
      // Of a short key given by the operator no more than a third is shown.
      prefix: secret.slice(0, Math.min(13, Math.floor(secret.length / 3))),
      created_at: new Date(createdAtMs).toISOString(),
    },
  };
}
