/**
 * By organization: what was received before this time, in nanoseconds since 1970, is deleted. Everything of other
 * organizations is kept.
 */
export type Cutoffs = ReadonlyMap<string, bigint>;

/**
 * How many `rows` of spans, and `months` of them, are now being deleted. `overdueMs`: how long the oldest of them is
 * past its retention.
 */
export type Expired = { rows: number; months: number; overdueMs: number };

/** The number of table parts that deletions still have to process, and their size. */
export type DeletionProgress = { parts: number; bytes: number };
