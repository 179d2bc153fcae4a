import { storageLimits } from "../../limits.ts";

/** Remembers which organizations have rows in a side table, and which have none, so that their reads need no probe. */
export type SideTableTracker = {
  hasNone(organizationId: string): boolean;
  /** May still be true after the rows of an organization were deleted. */
  hasSome(organizationId: string): boolean;
  /** Equal before and after a probe if no row was written in between. Undefined while some are being written. */
  state(): number | undefined;
  foundNone(organizationId: string): void;
  foundSome(organizationId: string): void;
  during<T>(write: () => Promise<T>): Promise<T>;
};

function createSideTableTracker(): SideTableTracker {
  const none = new Set<string>();
  const some = new Set<string>();
  const add = (to: Set<string>, organizationId: string): void => {
    if (to.size >= storageLimits.plainOrganizations) to.clear();
    to.add(organizationId);
  };
  let begun = 0;
  let underWay = 0;
  return {
    hasNone: (organizationId) => none.has(organizationId),
    state: () => (underWay === 0 ? begun : undefined),
    hasSome: (organizationId) => some.has(organizationId),
    foundNone: (organizationId) => add(none, organizationId),
    foundSome: (organizationId) => add(some, organizationId),
    async during(write) {
      begun += 1;
      underWay += 1;
      none.clear();
      try {
        return await write();
      } finally {
        underWay -= 1;
      }
    },
  };
}

/** The watches of all side tables. */
export function trackSideTables(): {
  counts: SideTableTracker;
  edits: SideTableTracker;
  scores: SideTableTracker;
  extents: SideTableTracker;
  /** Runs an insert into a table; undefined is the table of spans. */
  during: <T>(table: string | undefined, write: () => Promise<T>) => Promise<T>;
} {
  const [counts, edits] = [createSideTableTracker(), createSideTableTracker()];
  const [scores, extents] = [createSideTableTracker(), createSideTableTracker()];
  const watches = new Map([
    ["span_counts", counts],
    ["span_edits", edits],
    ["scores", scores],
    ["trace_extents", extents],
  ]);
  return {
    counts,
    edits,
    scores,
    extents,
    during: (table, write) => watches.get(table ?? "")?.during(write) ?? write(),
  };
}
