/** By organization: what was received before, in nanoseconds since the epoch, is to go. Of others everything stays. */
export type Cutoffs = ReadonlyMap<string, bigint>;

/** `rows` of spans and their `months` that are deleted from here on; `overdueMs`: by how much the oldest of it is older than it should be. */
export type Expired = { rows: number; months: number; overdueMs: number };

/** Parts of tables that are still to be gone through, and their size. */
export type DeletionProgress = { parts: number; bytes: number };
