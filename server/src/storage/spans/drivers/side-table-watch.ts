import { storageLimits } from "../../limits.ts";

/** Remembers which organizations have a row in a table beside the spans, and which have none, so that reads of theirs need not ask. */
export type SideTableWatch = {
  hasNone(organizationId: string): boolean;
  /** One whose rows went may still be said to have some. */
  hasSome(organizationId: string): boolean;
  /** The same before and after a look: no row came in. Undefined while some are coming in. */
  state(): number | undefined;
  foundNone(organizationId: string): void;
  foundSome(organizationId: string): void;
  during<T>(write: () => Promise<T>): Promise<T>;
};

function createSideTableWatch(): SideTableWatch {
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

/** Of the tables that there are. */
export function watchSideTables(): {
  counts: SideTableWatch;
  edits: SideTableWatch;
  scores: SideTableWatch;
  extents: SideTableWatch;
  /** Runs an insert into a table, of spans if it is undefined. */
  during: <T>(table: string | undefined, write: () => Promise<T>) => Promise<T>;
} {
  const [counts, edits] = [createSideTableWatch(), createSideTableWatch()];
  const [scores, extents] = [createSideTableWatch(), createSideTableWatch()];
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
