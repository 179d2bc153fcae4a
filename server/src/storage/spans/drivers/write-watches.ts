import { storageLimits } from "../../limits.ts";

/** Tells a read whether rows of some kind may have been written while it ran. */
type WriteWatch = {
  /** Equal before and after a read if no row was written in between. Undefined while some are being written. */
  state: () => number | undefined;
  during: <T>(write: () => Promise<T>) => Promise<T>;
};

/** @param onWrite forgets what the write may change */
function watchWrites(onWrite: () => void): WriteWatch {
  let started = 0;
  let running = 0;
  return {
    state: () => (running === 0 ? started : undefined),
    async during(write) {
      started += 1;
      running += 1;
      onWrite();
      try {
        return await write();
      } finally {
        running -= 1;
      }
    },
  };
}

function addBounded(organizations: Set<string>, organizationId: string): void {
  if (organizations.size >= storageLimits.plainOrganizations) organizations.clear();
  organizations.add(organizationId);
}

/** Caches the results of probe queries until any row is inserted or deleted. */
export type ProbeCache = Pick<WriteWatch, "during"> & {
  read<T>(key: string, probe: () => Promise<T>): Promise<T>;
};

export function createProbeCache(): ProbeCache {
  const found = new Map<string, unknown>();
  const { state, during } = watchWrites(() => found.clear());
  return {
    async read<T>(key: string, probe: () => Promise<T>): Promise<T> {
      // The key identifies the probe, and so the type of its result.
      if (found.has(key)) return found.get(key) as T;
      const before = state();
      const result = await probe();
      if (before !== undefined && before === state()) {
        if (found.size >= storageLimits.cachedProbes) found.clear();
        found.set(key, result);
      }
      return result;
    },
    during,
  };
}

/** Remembers which organizations have rows in a side table, and which have none, so that their reads need no probe. */
export type SideTableTracker = WriteWatch & {
  hasNone(organizationId: string): boolean;
  /** May still be true after the rows of an organization were deleted. */
  hasSome(organizationId: string): boolean;
  foundNone(organizationId: string): void;
  foundSome(organizationId: string): void;
};

function createSideTableTracker(): SideTableTracker {
  const none = new Set<string>();
  const some = new Set<string>();
  return {
    ...watchWrites(() => none.clear()),
    hasNone: (organizationId) => none.has(organizationId),
    hasSome: (organizationId) => some.has(organizationId),
    foundNone: (organizationId) => addBounded(none, organizationId),
    foundSome: (organizationId) => addBounded(some, organizationId),
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

/** Watches writes of rows that share a key with others. */
export type ResendTracker = WriteWatch & {
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

type Probe = {
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
  const none = new Set<string>();
  const probes = new Map<string, Probe>();
  return {
    ...watchWrites(() => none.clear()),
    hasNone: (organizationId) => none.has(organizationId),
    foundNone: (organizationId) => addBounded(none, organizationId),
    lastProbe: (kind) => probes.get(kind),
    setProbe(kind, probe) {
      if (probes.size >= storageLimits.plainOrganizations && !probes.has(kind)) probes.clear();
      probes.set(kind, probe);
    },
  };
}
