/** Limits of customers and budgets, with the unit in each name. */
export const customersLimits = {
  customerMetadataChars: 64 * 1024,
  customerRateLimitMax: 1_000_000,
  cachedCustomers: 50_000,
  /** How long another node goes on with a customer as it was before a change. */
  cachedCustomerMs: 5_000,
  /** Customers with a budget or a rate limit that a node keeps in mind for when the control store does not answer. */
  boundedCustomers: 10_000,
  boundedCustomersEveryMs: 60_000,
  customerChangeAttempts: 5,
  customerLedgerBatch: 64,
  customerLedgerQueued: 10_000,
  customerLedgerRetryMs: 1_000,
  /** A node that died gives back what it had reserved after this time; one that lives renews it. */
  customerReservationMs: 30_000,
  customerReservationRenewEveryMs: 10_000,
  /** How long a first call waits to learn what its customer has spent so far. */
  customerSpendMs: 2_000,
  /** How often what budgeted customers spent is compared with their spans. */
  customerSpendSyncMs: 30_000,
  /** A call that ended this long ago is settled. */
  customerSettledMs: 10_000,
  customersCompared: 500,
  customerMirrorRows: 1_000,
  customerMirrorRetryMs: 1_000,
  customerMirrorEveryMs: 5_000,
  customerMirrorGroupMs: 500,
  /** How long the name of a deleted customer stays on record, for nodes that did not hear of its deletion at once. */
  erasedNameMs: 24 * 60 * 60 * 1_000,
} as const;
