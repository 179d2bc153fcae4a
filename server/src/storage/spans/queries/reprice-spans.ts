import type { SpanScope } from "../../../domain/span.ts";
import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { RepricedSpan } from "../span-editing.ts";
import type { SpanSelection, UnpricedModel } from "../span-store.ts";
import { allOf, scopeWhere, partOf } from "./selection.ts";

/** Each statement reads and writes, so that spans that are deleted or newer by then are not written. */
export async function repriceSpans(
  database: SpanDatabase,
  scope: SpanScope,
  spans: readonly RepricedSpan[],
  signal?: AbortSignal,
): Promise<void> {
  for (const group of groupsOf(spans)) {
    signal?.throwIfAborted();
    await writeGroup(database, scope, group);
  }
}

async function writeGroup(database: SpanDatabase, scope: SpanScope, spans: readonly RepricedSpan[]): Promise<void> {
  const where = allOf(scopeWhere(scope), {
    sql: "toDate32(timestamp) IN {days:Array(Date32)} AND timestamp IN {times:Array(DateTime64(9, 'UTC'))} AND unique_id IN {ids:Array(UUID)}",
    params: {
      days: [...new Set(spans.map(({ timestamp }) => timestamp.slice(0, 10)))],
      times: [...new Set(spans.map(({ timestamp }) => timestamp))],
      ids: spans.map(({ unique_id }) => unique_id),
    },
  });
  const at = (name: string): string => `arrayElement({${name}:Array(String)}, place)`;
  await database.execute({
    name: "reprice_spans",
    sql: `INSERT INTO spans SELECT * EXCEPT (place) REPLACE (toFloat64OrNull(${at("costs")}) AS cost, 'computed' AS cost_source,
        ${at("sources")} AS price_version, ${at("receipts")} AS cost_details, ${at("unpriced")} AS unpriced,
        version + 1 AS version, toUInt8(1) AS is_resend)
      FROM (SELECT *, indexOf({keys:Array(String)}, concat(environment, ' ', toString(unique_id), ' ', toString(version))) AS place
        FROM (SELECT * FROM spans FINAL WHERE ${where.sql}))
      WHERE place > 0`,
    params: {
      ...where.params,
      keys: spans.map(({ environment, unique_id, version }) => `${environment} ${unique_id} ${version}`),
      costs: spans.map(({ cost }) => String(cost)),
      sources: spans.map(({ price_version }) => price_version),
      receipts: spans.map(({ cost_details }) => cost_details),
      unpriced: spans.map(({ unpriced }) => unpriced),
    },
    settings: { insert_deduplicate: 0, max_partitions_per_insert_block: 0, distributed_foreground_insert: 1 },
  });
}

/** Groups spans for statements of at most 256 KiB, in which text is hexadecimal. */
function groupsOf(spans: readonly RepricedSpan[]): RepricedSpan[][] {
  const groups: RepricedSpan[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const span of spans) {
    const own = 250 + span.price_version.length + span.cost_details.length + span.unpriced.length;
    if (chars + own > storageLimits.repricedStatementChars) {
      groups.push([]);
      chars = 0;
    }
    groups.at(-1)?.push(span);
    chars += own;
  }
  return groups;
}

/** A cost is missing if there is usage that could have a price. */
const isWithoutPrice = "isNull(cost) AND model != '' AND (ifNull(total_tokens > 0, 0) OR unpriced != '')";

export async function listUnpriced(
  database: SpanDatabase,
  selection: SpanSelection,
  signal?: AbortSignal,
): Promise<UnpricedModel[]> {
  const { where } = partOf(selection);
  const { rows } = await database.query(
    {
      name: "list_unpriced",
      sql: `SELECT model, provider_id, count() AS spans, max(timestamp) AS last_timestamp FROM spans FINAL
        WHERE ${where.sql} AND ${isWithoutPrice}
        GROUP BY model, provider_id ORDER BY spans DESC, model, provider_id LIMIT ${storageLimits.unpricedModels}`,
      params: where.params,
    },
    signal,
  );
  return rows.map((row) => ({
    model: String(row["model"]),
    provider_id: String(row["provider_id"]),
    spans: Number(row["spans"]),
    last_timestamp: String(row["last_timestamp"]),
  }));
}
