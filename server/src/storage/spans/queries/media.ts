import { mediaId, type Media, type MediaOwner } from "../../../domain/media.ts";
import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";
import { scopeWhere } from "./selection.ts";

/** See `SpanStore.readMedia`. */
export async function readMedia(
  database: SpanDatabase,
  { organization_id, trace }: MediaOwner,
  ids: readonly string[],
  { signal, maxChars = storageLimits.pagePayloadBytes }: { signal?: AbortSignal; maxChars?: number } = {},
): Promise<Media[]> {
  const known = [...new Set(ids)].filter((id) => mediaId.test(id)).slice(0, storageLimits.mediaOfSpan);
  if (known.length === 0) return [];
  const where = scopeWhere({ organization_id });
  const params = { ...where.params, ids: known, ...trace };
  // The column of the environment is an enumeration in some schemas.
  const ofTrace =
    trace === undefined
      ? ""
      : "AND trace_unique_id = {trace_unique_id:String} AND has({environments:Array(String)}, toString(environment))";
  const used = await database.query(
    {
      name: "media_use",
      sql: `SELECT DISTINCT arrayJoin(arrayIntersect(media_ids, {ids:Array(String)})) AS id FROM spans FINAL
        WHERE ${where.sql} AND hasAny(media_ids, {ids:Array(String)}) ${ofTrace}`,
      params,
    },
    signal,
  );
  const shown = used.rows.map((row) => String(row["id"]));
  if (shown.length === 0) return [];
  const { rows } = await database.query(
    {
      name: "media",
      sql: `SELECT id, media_type, if(sum(length(content)) OVER (ORDER BY length(content), id) <= {max_chars:UInt64}, content, '') AS text
        FROM (SELECT id, media_type, text AS content FROM media WHERE ${where.sql} AND id IN {ids:Array(String)} LIMIT 1 BY id)`,
      params: { ...where.params, ids: shown, max_chars: String(maxChars) },
    },
    signal,
  );
  return rows as Media[];
}

/**
 * The values of a command are sent to a ClickHouse server in the URL, and proxies accept 8 KB. The engine runs several
 * deletions in one pass.
 */
const idsInUrl = 100;

/**
 * Deletes media that no span refers to and that was last sent before `cutoffMs`. Rows of spans that are deleted but not
 * yet purged still count, so media follows the purge and the retention of its spans.
 */
export async function sweepMedia(database: SpanDatabase, cutoffMs: number, signal?: AbortSignal): Promise<void> {
  const old = "received_at < fromUnixTimestamp64Milli({cutoff_ms:Int64}, 'UTC')";
  const params = { cutoff_ms: String(cutoffMs) };
  const { rows: owners } = await database.query(
    { name: "sweep_media", sql: `SELECT DISTINCT organization_id FROM media WHERE ${old}`, params },
    signal,
  );
  const ofOwner = "organization_id = {organization_id:String}";
  for (const { organization_id } of owners as { organization_id: string }[]) {
    // Deletion runs in the background, so the next batch begins after the ids of this one.
    for (let after: string | undefined = ""; after !== undefined;) {
      const { rows } = await database.query(
        {
          name: "sweep_media",
          sql: `SELECT id FROM media WHERE ${ofOwner} AND id > {after:String}
            GROUP BY id HAVING max(received_at) < fromUnixTimestamp64Milli({cutoff_ms:Int64}, 'UTC')
            AND id GLOBAL NOT IN (SELECT arrayJoin(media_ids) FROM spans WHERE ${ofOwner} AND notEmpty(media_ids))
            ORDER BY id LIMIT ${storageLimits.mediaSweepRows}`,
          params: { ...params, organization_id, after },
        },
        signal,
      );
      const ids = rows.map((row) => String(row["id"]));
      after = ids.length < storageLimits.mediaSweepRows ? undefined : ids.at(-1);
      for (let start = 0; start < ids.length; start += idsInUrl) {
        await database.execute({
          name: "sweep_media",
          sql: `ALTER TABLE ${localTable(database, "media")}${onCluster(database)} DELETE WHERE ${ofOwner} AND id IN {ids:Array(String)} AND ${old}`,
          params: { ...params, organization_id, ids: ids.slice(start, start + idsInUrl) },
          settings: { mutations_sync: 0 },
        });
      }
    }
  }
}
