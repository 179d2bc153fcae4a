import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanSelection, UnpricedModel } from "../span-store.ts";
import { partOf } from "./selection.ts";

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
