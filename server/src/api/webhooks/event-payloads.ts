import { countedColumns, type SpanRow } from "../../domain/span.ts";
import type { Score } from "../../domain/score.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import type { StoredTrace } from "../../storage/spans/trace-queries.ts";
import { allMembers, presentSpan } from "../request-logs/present-span.ts";
import { presentScore } from "../scores/score-schemas.ts";
import { rootFields, writeTrace } from "../traces/present-trace.ts";
import type { TraceOwner } from "../traces/trace-owner.ts";

/** Payloads of webhooks: the objects that the API itself returns. */
export const eventPayloads = {
  /** Like retrieving a span, but without what it counts for: other spans of its trace may still arrive. */
  presentSpan: (row: SpanRow): string => presentSpan(asStoredSpan(row), sentMembers),
  /** Like lists of traces. */
  presentTrace: (trace: StoredTrace, root: StoredSpan | undefined, organization: TraceOwner): string =>
    writeTrace(trace, root, organization).toString(),
  rootFields,
  presentScore: (score: Score): object => presentScore(score),
};

const sentMembers = allMembers.filter((name) => !Object.hasOwn(countedColumns, name));

/** Rows have the members of their key. Their documents may still be values, which the members of spans can handle. */
function asStoredSpan(row: SpanRow): StoredSpan {
  return row as StoredSpan;
}
