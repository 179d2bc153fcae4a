import { storageLimits } from "../../limits.ts";
import { countedColumns, spanColumns } from "../../../domain/span.ts";
import type { ReadColumn, SpanScope } from "../../../domain/span.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanKey, StoredSpan } from "../span-store.ts";
import { hydrateSpans } from "./hydrate-spans.ts";
import { allOf, scopeWhere } from "./selection.ts";

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const allColumns = Object.keys({ ...spanColumns, ...countedColumns }) as ReadColumn[];

/** An id contains neither day nor time, so a bloom index finds the key first; the payload is read by the key. */
export async function retrieveSpan(
  database: SpanDatabase,
  scope: SpanScope,
  uniqueId: string,
  signal?: AbortSignal,
): Promise<StoredSpan | undefined> {
  if (!uuidPattern.test(uniqueId)) return undefined;
  for (let attempt = 0; attempt < storageLimits.movedReadAttempts; attempt += 1) {
    const { isThere, span } = await readSpan(database, scope, uniqueId, signal);
    if (span !== undefined || !isThere) return span;
    // The span was resent between finding and reading it, and has another key now.
  }
  return undefined;
}

async function readSpan(
  database: SpanDatabase,
  scope: SpanScope,
  uniqueId: string,
  signal?: AbortSignal,
): Promise<{ isThere: boolean; span: StoredSpan | undefined }> {
  const key = await findSpan(database, scope, uniqueId, signal);
  const [span] = await hydrateSpans(database, scope, key === undefined ? [] : [key], allColumns, signal);
  return { isThere: key !== undefined, span };
}

export async function findSpan(
  database: SpanDatabase,
  scope: SpanScope,
  uniqueId: string,
  signal?: AbortSignal,
): Promise<SpanKey | undefined> {
  return (await findSpans(database, scope, [uniqueId], signal))[0];
}

export async function findSpans(
  database: SpanDatabase,
  scope: SpanScope,
  uniqueIds: readonly string[],
  signal?: AbortSignal,
): Promise<SpanKey[]> {
  const ids = [...new Set(uniqueIds.filter((id) => uuidPattern.test(id)))];
  if (ids.length === 0) return [];
  const where = allOf(scopeWhere(scope), { sql: "unique_id IN {unique_ids:Array(UUID)}", params: { unique_ids: ids } });
  const { rows } = await database.query(
    {
      name: "retrieve_key",
      sql: `SELECT timestamp, unique_id, environment, version FROM spans FINAL WHERE ${where.sql}
        ORDER BY version DESC LIMIT 1 BY unique_id`,
      params: where.params,
    },
    signal,
  );
  return rows as SpanKey[];
}
