import type { SelectOption } from "../../ui/select.tsx";
import type { ApiKey } from "./queries.ts";

export type KeyUse = "all" | "send" | "call" | "ingest" | "read";

type Use = { label: string; permissions: ApiKey["permissions"] | undefined };

/**
 * Presets of permissions for keys. Without permissions a key may do what its creator may, except manage people and
 * keys.
 */
export const keyUses: Record<KeyUse, Use> = {
  all: { label: "Everything but people and keys", permissions: undefined },
  send: { label: "Send spans and scores, call models", permissions: ["spans:write"] },
  call: { label: "Call models only", permissions: ["gateway:call"] },
  ingest: { label: "Send spans only", permissions: ["spans:ingest"] },
  read: { label: "Read spans and figures only", permissions: ["spans:read", "analytics:read"] },
};

const days = { never: undefined, "30d": 30, "90d": 90, "365d": 365 } as const;

export type Expiry = keyof typeof days;

export const expiries: readonly SelectOption<Expiry>[] = [
  { value: "never", label: "never" },
  { value: "30d", label: "in 30 days" },
  { value: "90d", label: "in 90 days" },
  { value: "365d", label: "in a year" },
];

export function expiryOf(expiry: Expiry, nowMs: number): string | null {
  const after = days[expiry];
  return after === undefined ? null : new Date(nowMs + after * 86_400_000).toISOString();
}
