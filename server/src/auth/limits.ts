/** Limits of keys, people and sessions, with the unit in each name. */
export const authLimits = {
  cachedKeys: 10_000,
  cachedUnknownKeys: 10_000,
  cachedKeyMs: 30_000,
  accessTokenMs: 15 * 60 * 1_000,
  refreshTokenMs: 30 * 24 * 60 * 60 * 1_000,
  passwordHashesInFlight: 2,
  /** Hashes that wait in the queue. One hash takes 0.1 to 0.2 s. */
  passwordHashesQueued: 256,
  passwordHashWaitMs: 10_000,
  /** How often the use of one key is stored again. */
  keyUseMs: 60_000,
  keyUseFlushMs: 2_000,
  /** Idle and maximum lifetime of a browser session, unless the operator configures others. */
  browserSessionIdleMs: 12 * 60 * 60 * 1_000,
  browserSessionMs: 7 * 24 * 60 * 60 * 1_000,
  /** How often the use of a browser session is stored. */
  browserSessionUseMs: 60_000,
  /** How long the sign-in link of the first start is valid. */
  signInCodeMs: 60 * 60 * 1_000,
  invitationMs: 7 * 24 * 60 * 60 * 1_000,
  /**
   * A wrong password is recorded once per this time for one account, and this often per day for one organization, on
   * each node.
   */
  failedLoginAuditMs: 60 * 60 * 1_000,
  failedLoginAuditsPerDay: 50,
  /** Failures of one account from all addresses; each further one doubles the wait for the next. */
  loginFailuresUnslowed: 20,
  loginSlowdownMaxMs: 60_000,
  loginFamiliarMs: 30 * 24 * 60 * 60 * 1_000,
  loginFailures: 10,
  loginFailuresPerAddress: 100,
  loginWindowMs: 15 * 60 * 1_000,
  loginAddressesTracked: 10_000,
} as const;
