import { spanColumns, type SpanColumn, type SpanRow } from "../../domain/span.ts";
import { maxTimeNs, minTimeNs } from "../../lib/time.ts";
import { ingestLimits } from "../limits.ts";
import type { SpanStore, StoredSpan } from "../../storage/spans/span-store.ts";

/** Reads the spans of an organization that were received within a period, both ends inclusive, a page at a time. */
export type ReadBack = (
  range: { organizationId: string; from: string; to: string },
  signal: AbortSignal,
) => AsyncIterable<SpanRow[]>;

const fields = (Object.keys(spanColumns) as SpanColumn[]).filter((column) => column !== "is_deleted");
const allTime = { fromNs: minTimeNs, toNs: maxTimeNs };

/** Reads spans of all nodes: subscribers recognize repeated spans by their identity. */
export function createReadBack(spans: Pick<SpanStore, "listSpans">): ReadBack {
  return async function* ({ organizationId, from, to }, signal) {
    const filter = {
      // `stored_at` has an index, and is by the clock of another server.
      sql: `received_at >= {from:DateTime64(9, 'UTC')} AND received_at <= {to:DateTime64(9, 'UTC')}
        AND stored_at >= {from:DateTime64(9, 'UTC')} - INTERVAL 1 HOUR`,
      params: { from, to },
      columns: new Set(["received_at"]),
    };
    // Pages shift if one of the spans is deleted or resent: all pages are then read again.
    for (let expected = -1, count = 0; expected !== count;) {
      expected = count;
      for (let page = 1; page === 1 || (page - 1) * ingestLimits.fanOutBatchRows < count; page += 1) {
        const listed = await spans.listSpans(
          {
            scope: { organization_id: organizationId },
            window: allTime,
            filter,
            sort: { field: "timestamp", descending: false },
            page,
            pageSize: ingestLimits.fanOutBatchRows,
            fields,
          },
          signal,
        );
        if (page === 1) expected = listed.count;
        count = listed.count;
        if (listed.rows.length > 0) yield listed.rows.map((row) => asSpanRow(row, organizationId));
      }
    }
  };
}

/** Stored JSON columns are text, which rows may contain too. */
function asSpanRow(row: StoredSpan, organizationId: string): SpanRow {
  return { ...row, organization_id: organizationId } as SpanRow;
}
