import type { SpanScope } from "../../domain/span.ts";
import type { ThreadNumber, ThreadSortField, ThreadTime } from "../../domain/thread.ts";
import type { GroupCondition, Page, TimeWindow } from "./span-store.ts";
import type { SeesEdits } from "./span-editing.ts";

export type ListThreadsQuery = {
  scope: SpanScope;
  window: TimeWindow;
  condition?: GroupCondition | undefined;
} & SeesEdits &
  Page & {
    /** Ties are broken by the thread, in the same direction. */
    sort: { field: ThreadSortField; descending: boolean };
  };

/** `customer_identifier` is that of the first span with one, '' if none has one. */
export type StoredThread = { thread_identifier: string; environment: string; customer_identifier: string } & Record<
  ThreadNumber,
  number
> &
  Record<ThreadTime, string>;
