import { storageLimits } from "../storage/limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { NewEdit } from "../storage/spans/span-editing.ts";

/** Changes stored spans. */
export type SpanEditor = {
  /**
   * On disk when it resolves, in the order of the calls. Whether there are such spans is for the caller to find out.
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

/** One insert at a time: what comes meanwhile goes together into the next. Requests that wait are bounded by their turns. */
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

/** Takes what an organization has at the front, of few enough spans for one statement. */
function takeGroup(waiting: Waiting[], organizationId: string): Waiting[] {
  let end = 0;
  for (let rows = 0; end < waiting.length; end += 1) {
    const next = waiting[end];
    rows += next?.edits.length ?? 0;
    if (next?.organizationId !== organizationId || (end > 0 && rows > storageLimits.bulkRows)) break;
  }
  return waiting.splice(0, end);
}
