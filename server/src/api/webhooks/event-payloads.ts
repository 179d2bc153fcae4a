import type { SpanRow } from "../../domain/span.ts";
import { spanColumns, type SpanColumn } from "../../domain/span.ts";
import type { Score } from "../../domain/score.ts";
import type { StoredSpan, StoredTrace } from "../../storage/spans/span-store.ts";
import { allMembers, presentSpan } from "../request-logs/present-span.ts";
import { presentScore } from "../scores/score-schemas.ts";
import { rootFields, writeTrace } from "../traces/present-trace.ts";
import type { TraceOwner } from "../traces/trace-owner.ts";

/** What webhooks send: the objects that the API itself shows. */
export const eventPayloads = {
  /** As retrieving a span shows it. */
  presentSpan: (row: SpanRow): string => presentSpan(asStoredSpan(row), allMembers),
  /** As lists of traces show it. */
  presentTrace: (trace: StoredTrace, root: StoredSpan | undefined, organization: TraceOwner): string =>
    writeTrace(trace, root, organization).toString(),
  rootFields,
  presentScore: (score: Score): object => presentScore(score),
};

const textColumns = (Object.keys(spanColumns) as SpanColumn[]).filter(
  (column) => spanColumns[column] === "json" || spanColumns[column] === "text",
);

/** A row as the store would return it: documents are text there. Every row has the members of its key. */
function asStoredSpan(row: SpanRow): StoredSpan {
  const stored: Record<string, unknown> = { ...row };
  for (const column of textColumns) {
    const value = stored[column];
    if (value !== undefined && typeof value !== "string") stored[column] = JSON.stringify(value);
  }
  return stored as StoredSpan;
}
