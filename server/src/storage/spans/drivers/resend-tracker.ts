import { storageLimits } from "../../limits.ts";

/** Tells a read whether rows that share a key with others may have been written while it ran. */
export type ResendTracker = {
  /** Equal before and after a read if none were written in between. Undefined while some are being written. */
  state(): number | undefined;
  during<T>(write: () => Promise<T>): Promise<T>;
  /** Whether an organization is known to have none, in any window. */
  hasNone(organizationId: string): boolean;
  foundNone(organizationId: string): void;
  /** The result of the last probe for a kind of read: of one organization, with certain needs for counts. */
  lastProbe(kind: string): Probe | undefined;
  setProbe(kind: string, probe: Probe): void;
};

/** The kinds of rows that reads probe for before they choose how to read. */
export const probeKinds = ["resend", "counts"] as const;
export type ProbeKind = (typeof probeKinds)[number];

export type Probe = {
  /** The states of the watches before the probe. */
  states: Readonly<Record<ProbeKind, number | undefined>>;
  /** The kinds that the probed window has. */
  found: ReadonlySet<ProbeKind>;
  /** The kinds that the organization has, possibly only in other windows. */
  elsewhere: ReadonlySet<ProbeKind>;
  /** How many reads since then have assumed the same counts without a probe. */
  reads: number;
};

export function createResendTracker(): ResendTracker {
  let begun = 0;
  let underWay = 0;
  const none = new Set<string>();
  const probes = new Map<string, Probe>();
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
    lastProbe: (kind) => probes.get(kind),
    setProbe(kind, probe) {
      if (probes.size >= storageLimits.plainOrganizations && !probes.has(kind)) probes.clear();
      probes.set(kind, probe);
    },
  };
}
