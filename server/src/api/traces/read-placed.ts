import type { Environment } from "../../domain/principal.ts";
import { storageLimits } from "../../storage/limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { TracePlace } from "../../storage/spans/trace-queries.ts";
import type { TraceOwner } from "./trace-owner.ts";
import { inOrder, traceNotFound } from "./trace-scope.ts";

export type TraceRequest = {
  organization: TraceOwner;
  traceId: string;
  /** The environments to search, in this order. */
  environments: readonly Environment[];
  signal: AbortSignal;
};

/**
 * Reads a trace at its place in time. Spans that are resent meanwhile with other times have moved, and a response
 * without them would be wrong: then the whole read is repeated, a few times. If spans move all the time, the last read
 * is returned.
 *
 * `read` returns undefined if there are no spans to show: then the next environment is tried. `isOneStatement`: whether
 * a place is read in one statement, which sees a single moment. Between several statements, a span may move from a part
 * that was not read yet to one that was.
 *
 * @throws ServiceError `not_found`
 */
export async function readPlaced<T>(
  spans: Pick<SpanStore, "placeTraces">,
  request: TraceRequest,
  how: { read: (place: TracePlace) => Promise<T | undefined>; isOneStatement: (place: TracePlace) => boolean },
): Promise<T> {
  const { organization, environments } = request;
  const scope = { organization_id: organization.unique_organization_id };
  const placesNow = async () => {
    const places = await spans.placeTraces(scope, request.traceId, request.signal);
    return inOrder(places, environments);
  };
  const hasMoved = async (searched: readonly TracePlace[]) => {
    // A trace that has ended keeps its place.
    if (!searched.some((place) => place.is_recent)) return false;
    const now = await placesNow();
    return searched.some((before) => {
      const after = now.find(({ environment }) => environment === before.environment);
      return after !== undefined && !isSamePlace(before, after, how.isOneStatement(before));
    });
  };
  for (let attempt = 1; ; attempt += 1) {
    const places = await placesNow();
    const { result, searched } = await firstThere(places, how.read);
    if (attempt < storageLimits.movedReadAttempts && (await hasMoved(searched))) continue;
    if (result === undefined) throw traceNotFound();
    return result;
  }
}

async function firstThere<T>(
  places: readonly TracePlace[],
  read: (place: TracePlace) => Promise<T | undefined>,
): Promise<{ result: T | undefined; searched: TracePlace[] }> {
  const searched: TracePlace[] = [];
  for (const place of places) {
    searched.push(place);
    const result = await read(place);
    if (result !== undefined) return { result, searched };
  }
  return { result: undefined, searched };
}

function isSamePlace(before: TracePlace, after: TracePlace, isOneStatement: boolean): boolean {
  const isWithin = after.range.first >= before.range.first && after.range.last <= before.range.last;
  return isWithin && (isOneStatement || after.span_count === before.span_count);
}
