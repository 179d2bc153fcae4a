import { hash } from "node:crypto";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { ingestLimits } from "../limits.ts";
import { isPoisonBatch, type SpanBatch, type SpanStore } from "../../storage/spans/span-store.ts";
import { separateMedia, type MediaRow } from "./separate-media.ts";

/**
 * Inserts rows of spans without their media, which is inserted into its own table first: a reference is never stored
 * before its content. Content that was stored recently is not sent again, however many turns of a conversation repeat
 * it; older content is, so that the sweep of unused media (`SpanStore.sweepMedia`) sees it as new.
 */
export function withMediaApart(store: Pick<SpanStore, "insert">, nowMs: () => number): Pick<SpanStore, "insert"> {
  const stored = new ExpiringLru<string, true>({
    maxEntries: ingestLimits.mediaKnown,
    ttlMs: ingestLimits.mediaKnownMs,
    nowMs,
  });
  const keyOf = ({ organization_id, id }: MediaRow) => `${organization_id}/${id}`;

  return {
    async insert(batch: SpanBatch, signal?: AbortSignal) {
      const { ndjson, media } = separateMedia(batch.ndjson);
      const fresh = media.filter((row) => stored.get(keyOf(row)) === undefined);
      if (fresh.length > 0) {
        const rows = Buffer.from(fresh.map((row) => `${JSON.stringify(row)}\n`).join(""));
        // The time is part of the token, so that a retry much later stores them as new again.
        const token = `${batch.token}:media:${Math.floor(nowMs() / ingestLimits.mediaKnownMs)}:${hash("sha256", rows, "hex")}`;
        try {
          await store.insert({ ndjson: rows, rows: fresh.length, token, table: "media" }, signal);
        } catch (error) {
          // Spans are never refused because of their media: they then keep it inline.
          if (isPoisonBatch(error)) return await store.insert(batch, signal);
          throw error;
        }
        for (const row of fresh) stored.set(keyOf(row), true);
      }
      await store.insert({ ...batch, ndjson }, signal);
    },
  };
}
