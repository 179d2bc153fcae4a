/** Limits of customers and budgets, with the unit in each name. */
export const customersLimits = {
  customerMetadataChars: 64 * 1024,
  customerRateLimitMax: 1_000_000,
  cachedCustomers: 50_000,
  /** How long another node may use a customer from before a change. */
  cachedCustomerMs: 5_000,
  /** Customers with a budget or a rate limit that a node holds in memory for when the control store is unavailable. */
  boundedCustomers: 10_000,
  boundedCustomersEveryMs: 60_000,
  customerChangeAttempts: 5,
  customerLedgerBatch: 64,
  customerLedgerQueued: 10_000,
  customerLedgerRetryMs: 1_000,
  /** Reservations of a dead node are released after this time; a live node renews them. */
  customerReservationMs: 30_000,
  customerReservationRenewEveryMs: 10_000,
  /** How long the first call of a customer waits for the sum of its spending so far. */
  customerSpendMs: 2_000,
  /** How often the ledger is compared with the spans of customers with budgets. */
  customerSpendSyncMs: 30_000,
  /** A call that ended this long ago is settled. */
  customerSettledMs: 10_000,
  customersCompared: 500,
  customerReplicationRows: 1_000,
  customerReplicationRetryMs: 1_000,
  customerReplicationEveryMs: 5_000,
  customerReplicationGroupMs: 500,
  /** How long the name of a deleted customer is stored, for nodes that did not learn of its deletion immediately. */
  erasedNameMs: 24 * 60 * 60 * 1_000,
} as const;
