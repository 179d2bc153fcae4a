/** Bounds of the control store and of what stands in for it; part of `limits`. Milliseconds end in Ms, characters in Chars. */
export const controlLimits = {
  controlBusyMs: 10_000,
  controlBusyRetryMs: 20,
  controlConnections: 10,
  controlConnectMs: 5_000,
  controlQueryMs: 30_000,
  /** A connection whose server has not answered by then is given up. */
  controlSilenceMs: 35_000,
  controlPingEveryMs: 1_000,
  /** After that long without an answer what was read before is used, and a ping that takes longer is an outage. */
  controlPatienceMs: 2_000,
  /** By how much the clock of a node may differ from the control store's: before it is corrected, warns, leads no more, and is refused. */
  clockSlackMs: 500,
  clockSkewWarnMs: 2_000,
  clockSkewLeadMs: 30_000,
  clockSkewMaxMs: 5 * 60_000,
  clockMeasureEveryMs: 60_000,
  /** Who does the upkeep of all nodes, and dies, is followed by another after that time. */
  leaseMs: 60_000,
  leaseRenewEveryMs: 15_000,
  /** Statements that stay compiled; longer ones are not kept. */
  controlStatements: 300,
  controlStatementChars: 4_096,
  blockedOrganizationsEveryMs: 3_000,
  retentionDaysMax: 36_500,
  displayNameChars: 255,
} as const;
