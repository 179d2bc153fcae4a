import { storageLimits } from "../storage/limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { NewEdit } from "../storage/spans/span-editing.ts";

/** Changes stored spans. */
export type SpanEditor = {
  /**
   * Resolves when the edits are on disk; edits are applied in the order of the calls. Does not check whether the spans
   * exist.
   * @throws ServiceError `unavailable`
   */
  edit(organizationId: string, edits: readonly NewEdit[]): Promise<void>;
};

type Waiting = {
  organizationId: string;
  edits: readonly NewEdit[];
  done: () => void;
  failed: (error: unknown) => void;
};

/**
 * One insert at a time: edits that arrive meanwhile share the next one. The number of waiting requests is bounded
 * elsewhere.
 */
export function createSpanEditor({
  spans,
  now,
}: {
  spans: Pick<SpanStore, "editSpans">;
  now: () => number;
}): SpanEditor {
  const waiting: Waiting[] = [];
  let isWriting = false;
  const write = async (): Promise<void> => {
    isWriting = true;
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      const { organizationId } = first;
      const group = takeGroup(waiting, organizationId);
      try {
        await spans.editSpans(
          organizationId,
          group.flatMap(({ edits }) => edits),
          now(),
        );
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
    }
    isWriting = false;
  };
  return {
    edit: (organizationId, edits) =>
      new Promise((done, failed) => {
        waiting.push({ organizationId, edits, done, failed });
        if (!isWriting) void write();
      }),
  };
}

/** Removes the first edits of an organization from the queue, as many as fit one statement. */
function takeGroup(waiting: Waiting[], organizationId: string): Waiting[] {
  let end = 0;
  for (let rows = 0; end < waiting.length; end += 1) {
    const next = waiting[end];
    rows += next?.edits.length ?? 0;
    if (next?.organizationId !== organizationId || (end > 0 && rows > storageLimits.bulkRows)) break;
  }
  return waiting.splice(0, end);
}
