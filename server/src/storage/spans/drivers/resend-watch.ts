import { storageLimits } from "../../limits.ts";

/** Tells a read whether rows that share a key with others may have come in while it ran. */
export type ResendWatch = {
  /** The same before and after a read: none came in. Undefined while some are coming in. */
  state(): number | undefined;
  during<T>(write: () => Promise<T>): Promise<T>;
  /** Whether an organization is known to have none of them, in any window. */
  hasNone(organizationId: string): boolean;
  foundNone(organizationId: string): void;
  /** What the last look for a kind of read met: that of an organization, and of what the read has to know. */
  lastLook(kind: string): Look | undefined;
  looked(kind: string, look: Look): void;
};

/** What reads look for before they choose how to read. */
export const lookedFor = ["resend", "counts"] as const;
export type LookedFor = (typeof lookedFor)[number];

export type Look = {
  /** Of the watch over each, before it. */
  states: Readonly<Record<LookedFor, number | undefined>>;
  /** What there is in the window that was read. */
  found: ReadonlySet<LookedFor>;
  /** What the organization has, but perhaps in other windows. */
  elsewhere: ReadonlySet<LookedFor>;
  /** How many reads took it since that they would find the same counts. */
  reads: number;
};

export function createResendWatch(): ResendWatch {
  let begun = 0;
  let underWay = 0;
  const none = new Set<string>();
  const looks = new Map<string, Look>();
  return {
    state: () => (underWay === 0 ? begun : undefined),
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
    hasNone: (organizationId) => none.has(organizationId),
    foundNone(organizationId) {
      if (none.size >= storageLimits.plainOrganizations) none.clear();
      none.add(organizationId);
    },
    lastLook: (kind) => looks.get(kind),
    looked(kind, look) {
      if (looks.size >= storageLimits.plainOrganizations && !looks.has(kind)) looks.clear();
      looks.set(kind, look);
    },
  };
}
