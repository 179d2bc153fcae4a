import { deletionVersion, type DeletedSpan, type StoredFact } from "../storage/spans/usage-facts.ts";

/** A row that removes one version of a span from the table. */
type TombstoneRow = {
  is_resend: 1;
  organization_id: string;
  environment: string;
  timestamp: string;
  unique_id: string;
  trace_unique_id: string;
  start_time: string;
  received_at: string;
  version: string;
  is_deleted: 1;
};

/**
 * A span has one row for each end time that it was sent with, because the time is part of the key. The node that
 * received the earlier version removes its row; a node that received none of them cannot. So two nodes may leave
 * several rows of one span.
 *
 * `standing` has one version of each span, the highest; `tombstones` remove the others. A deleted span has no standing
 * version. The result depends only on the rows: all nodes compute the same.
 */
export function standingVersions(
  organization_id: string,
  facts: readonly StoredFact[],
  deleted: readonly DeletedSpan[] = [],
): { standing: StoredFact[]; tombstones: TombstoneRow[] } {
  const standing = new Map<string, StoredFact>();
  const displaced: StoredFact[] = [];
  const tombstones: TombstoneRow[] = [];
  const deletedAt = new Map(deleted.map((span) => [keyOf(span), span.deleted_at]));
  for (const fact of facts) {
    const key = keyOf(fact);
    const other = standing.get(key);
    const at = deletedAt.get(key);
    if (at !== undefined) {
      tombstones.push(tombstoneOf(organization_id, fact, { version: deletionVersion, received_at: at }));
      continue;
    }
    if (other === undefined || isAbove(fact, other)) standing.set(key, fact);
    if (other !== undefined) displaced.push(isAbove(fact, other) ? other : fact);
  }
  for (const fact of displaced) {
    const winner = standing.get(keyOf(fact)) ?? fact;
    // Above the row that it removes, and below everything sent later.
    const version = winner.version > fact.version ? winner.version : fact.version + 1n;
    // Retention counts from receipt: it must not remove the tombstone before the row.
    const received_at = winner.received_at > fact.received_at ? winner.received_at : fact.received_at;
    tombstones.push(tombstoneOf(organization_id, fact, { version, received_at }));
  }
  return { standing: [...standing.values()], tombstones };
}

const keyOf = ({ environment, unique_id }: { environment: string; unique_id: string }): string =>
  `${environment} ${unique_id}`;

function tombstoneOf(
  organization_id: string,
  { environment, timestamp, unique_id, trace_unique_id, start_time }: StoredFact,
  { version, received_at }: { version: bigint; received_at: string },
): TombstoneRow {
  const key = { organization_id, environment, timestamp, unique_id, trace_unique_id, start_time, received_at };
  return { is_resend: 1, ...key, version: version.toString(), is_deleted: 1 };
}

/** Two nodes may give two rows the same version: then the later end decides. */
function isAbove(fact: StoredFact, other: StoredFact): boolean {
  return fact.version === other.version ? fact.timestamp > other.timestamp : fact.version > other.version;
}
