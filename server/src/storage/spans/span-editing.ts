import type { EditField, SpanChange, SpanEdits } from "../../domain/span-edit.ts";
import type { SpanScope } from "../../domain/span.ts";
import type { SpanKey } from "./span-store.ts";

/**
 * Changes to stored spans: edits by people (docs/adr/0043-edits-are-stored-beside-the-spans.md), and new costs after a change
 * of prices.
 */

export type NewEdit = { unique_id: string; change: SpanChange };

/** Set by the store: the edited fields that the query reads and that have any edits. */
export type SeesEdits = { edits?: ReadonlySet<EditField> | undefined };

/** A span as it was read, and its new cost. */
export type RepricedSpan = SpanKey & { cost: number; price_version: string; cost_details: string; unpriced: string };

export type SpanEditing = {
  /**
   * Writes newer versions of spans with another cost. Skips spans that were resent or deleted since they were read.
   * Safe to repeat.
   */
  repriceSpans(scope: SpanScope, spans: readonly RepricedSpan[], signal?: AbortSignal): Promise<void>;

  /**
   * Changes fields of spans; on disk when it resolves. Of two changes of a field, the one that is called later wins.
   * Does not check whether the spans exist.
   * @throws ServiceError `unavailable`; the change may have been stored nevertheless
   */
  editSpans(organizationId: string, edits: readonly NewEdit[], nowMs: number): Promise<void>;

  /** The edits of these spans, by their ids. */
  readEdits(scope: SpanScope, ids: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, SpanEdits>>;

  /** The keys of those spans that exist in the scope, in no order. */
  findSpans(scope: SpanScope, ids: readonly string[], signal?: AbortSignal): Promise<SpanKey[]>;

  /** The key of one span; undefined if the scope does not have it. */
  findSpan(scope: SpanScope, uniqueId: string, signal?: AbortSignal): Promise<SpanKey | undefined>;
};
