import type { EditField, SpanChange, SpanEdits } from "../../domain/span-edit.ts";
import type { SpanScope } from "../../domain/span.ts";
import type { SpanKey } from "./span-store.ts";

/** What is changed of spans that were sent: by people (docs/adr/0043-edits-lie-beside-the-spans.md), and their cost by new prices. */

export type NewEdit = { unique_id: string; change: SpanChange };

/** Set by the store: the edited fields that the query reads and of which anything was changed. */
export type SeesEdits = { edits?: ReadonlySet<EditField> | undefined };

/** A span as it was read, and what it costs from now on. */
export type RepricedSpan = SpanKey & { cost: number; price_version: string; cost_details: string; unpriced: string };

export type SpanEditing = {
  /**
   * Newer versions of spans, with another cost. What has been sent again or deleted since it was read stays as it is. Safe to
   * repeat.
   */
  repriceSpans(scope: SpanScope, spans: readonly RepricedSpan[], signal?: AbortSignal): Promise<void>;

  /**
   * Changes fields of spans, on disk when it resolves. Of two changes of a field the one that is called later wins. Whether there
   * are such spans is not asked.
   * @throws ServiceError `unavailable`; what was to change may have changed nevertheless
   */
  editSpans(organizationId: string, edits: readonly NewEdit[], nowMs: number): Promise<void>;

  /** What was changed of these spans, by their ids. */
  readEdits(scope: SpanScope, ids: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, SpanEdits>>;

  /** Where those of these spans are that there are in the scope, in no order. */
  findSpans(scope: SpanScope, ids: readonly string[], signal?: AbortSignal): Promise<SpanKey[]>;

  /** Where one span is; undefined when there is none in the scope. */
  findSpan(scope: SpanScope, uniqueId: string, signal?: AbortSignal): Promise<SpanKey | undefined>;
};
