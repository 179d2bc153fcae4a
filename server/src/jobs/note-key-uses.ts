import type { CachingAuthenticator } from "../auth/authenticator.ts";
import type { ApiKeyStore } from "../storage/control/api-key-store.ts";

const minuteMs = 60_000;

/** Records when keys were used, to the minute, so that many keys need few statements. */
export async function noteKeyUses({
  authenticator,
  apiKeys,
}: {
  authenticator: Pick<CachingAuthenticator, "takeUsed">;
  apiKeys: Pick<ApiKeyStore, "noteUsed">;
}): Promise<void> {
  const byMinute = new Map<number, string[]>();
  for (const [id, usedMs] of authenticator.takeUsed()) {
    const minute = Math.floor(usedMs / minuteMs) * minuteMs;
    const ids = byMinute.get(minute) ?? [];
    byMinute.set(minute, [...ids, id]);
  }
  for (const [minute, ids] of byMinute) await apiKeys.noteUsed(ids, new Date(minute).toISOString());
}
