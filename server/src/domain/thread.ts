/** The figures of a thread, for sorting and filtering. Money in USD. */
export const threadNumbers = ["log_count", "trace_count", "total_cost", "total_tokens", "unpriced_count"] as const;
export type ThreadNumber = (typeof threadNumbers)[number];

/** The ends of its first and its last span. */
export const threadTimes = ["first_timestamp", "last_timestamp"] as const;
export type ThreadTime = (typeof threadTimes)[number];

export const threadSortFields = [...threadTimes, ...threadNumbers] as const;
export type ThreadSortField = (typeof threadSortFields)[number];
