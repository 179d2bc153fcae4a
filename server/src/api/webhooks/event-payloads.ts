import { countedColumns, type SpanRow } from "../../domain/span.ts";
import type { Score } from "../../domain/score.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import type { StoredTrace } from "../../storage/spans/trace-queries.ts";
import { allMembers, presentSpan } from "../request-logs/present-span.ts";
import { presentScore } from "../scores/score-schemas.ts";
import { rootFields, writeTrace } from "../traces/present-trace.ts";
import type { TraceOwner } from "../traces/trace-owner.ts";

/** What webhooks send: the objects that the API itself shows. */
export const eventPayloads = {
  /** As retrieving a span shows it, but for what it counts for: other spans of its trace may still come. */
  presentSpan: (row: SpanRow): string => presentSpan(asStoredSpan(row), sentMembers),
  /** As lists of traces show it. */
  presentTrace: (trace: StoredTrace, root: StoredSpan | undefined, organization: TraceOwner): string =>
    writeTrace(trace, root, organization).toString(),
  rootFields,
  presentScore: (score: Score): object => presentScore(score),
};

const sentMembers = allMembers.filter((name) => !Object.hasOwn(countedColumns, name));

/** Rows have the members of their key. Their documents may be values yet, which the members of spans mind. */
function asStoredSpan(row: SpanRow): StoredSpan {
  return row as StoredSpan;
}
