import { maxTimeNs } from "../lib/time.ts";
import type { SpanStore, UnpricedModel } from "../storage/spans/span-store.ts";

/** The models of some organizations that have unpriced spans since a time, those with the most spans first. */
export type ListUnpriced = (
  organizationIds: readonly string[],
  sinceMs: number,
) => Promise<Array<UnpricedModel & { organizationId: string }>>;

/** @param withSpans opens the store for the duration of the call */
export function createListUnpriced(withSpans: <T>(use: (spans: SpanStore) => Promise<T>) => Promise<T>): ListUnpriced {
  return async (organizationIds, sinceMs) =>
    await withSpans(async (spans) => {
      const found: Awaited<ReturnType<ListUnpriced>> = [];
      for (const organizationId of organizationIds) {
        const window = { fromNs: BigInt(sinceMs) * 1_000_000n, toNs: maxTimeNs };
        const models = await spans.listUnpriced({ scope: { organization_id: organizationId }, window });
        found.push(...models.map((model) => ({ organizationId, ...model })));
      }
      return found;
    });
}
