import type { EditField, SpanChange, SpanEdits } from "../../domain/span-edit.ts";
import type { SpanScope } from "../../domain/span.ts";
import type { SpanKey } from "./span-store.ts";

/** What people change of spans that were sent: docs/adr/0043-edits-lie-beside-the-spans.md. */

export type NewEdit = { unique_id: string; change: SpanChange };

/** Set by the store: the edited fields that the query reads and of which anything was changed. */
export type SeesEdits = { edits?: ReadonlySet<EditField> | undefined };

export type SpanEditing = {
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
