import { limits } from "../../../limits.ts";

/** Remembers which organizations have no row in a table beside the spans, so that reads of theirs need not ask. */
export type SideTableWatch = {
  hasNone(organizationId: string): boolean;
  /** The same before and after a look: no row came in. Undefined while some are coming in. */
  state(): number | undefined;
  foundNone(organizationId: string): void;
  during<T>(write: () => Promise<T>): Promise<T>;
};

function createSideTableWatch(): SideTableWatch {
  const none = new Set<string>();
  let begun = 0;
  let underWay = 0;
  return {
    hasNone: (organizationId) => none.has(organizationId),
    state: () => (underWay === 0 ? begun : undefined),
    foundNone(organizationId) {
      if (none.size >= limits.plainOrganizations) none.clear();
      none.add(organizationId);
    },
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
  /** Runs an insert into a table, of spans if it is undefined. */
  during: <T>(table: string | undefined, write: () => Promise<T>) => Promise<T>;
} {
  const [counts, edits] = [createSideTableWatch(), createSideTableWatch()];
  const watches = new Map([
    ["span_counts", counts],
    ["span_edits", edits],
  ]);
  return { counts, edits, during: (table, write) => watches.get(table ?? "")?.during(write) ?? write() };
}
