import { limits } from "../../../limits.ts";

/** Remembers which organizations have no row in `span_counts`, so that reads of theirs need not ask. */
export type CountsWatch = {
  hasNone(organizationId: string): boolean;
  /** The same before and after a look: no row came in. Undefined while some are coming in. */
  state(): number | undefined;
  foundNone(organizationId: string): void;
  during<T>(write: () => Promise<T>): Promise<T>;
};

export function createCountsWatch(): CountsWatch {
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
