/** Bounds of keys, people and what they did; part of `limits`. Milliseconds end in Ms, characters in Chars. */
export const authLimits = {
  apiKeysPerOrganization: 1_000,
  temporaryKeysPerUser: 100,
  cachedKeys: 10_000,
  cachedUnknownKeys: 10_000,
  cachedKeyMs: 30_000,
  temporaryKeyMs: 60 * 60 * 1_000,
  accessTokenMs: 15 * 60 * 1_000,
  refreshTokenMs: 30 * 24 * 60 * 60 * 1_000,
  passwordCharsMin: 8,
  passwordChars: 1024,
  passwordHashesInFlight: 2,
  /** Hashes that wait for a place. One hash takes 0.1 to 0.2 s. */
  passwordHashesQueued: 256,
  passwordHashWaitMs: 10_000,
  /** How often the use of one key is written down again. */
  keyUseMs: 60_000,
  keyUseFlushMs: 2_000,
  temporaryKeyMaxMs: 90 * 24 * 60 * 60 * 1_000,
  temporaryKeyUsageMax: 1_000_000_000,
  sessionsPerUser: 100,
  /** Of one request, that are looked up. */
  sessionCookies: 4,
  /** How long a browser's session goes on unused, and how long at most, unless the operator says otherwise. */
  browserSessionIdleMs: 12 * 60 * 60 * 1_000,
  browserSessionMs: 7 * 24 * 60 * 60 * 1_000,
  /** How often the use of a browser's session is written down. */
  browserSessionUseMs: 60_000,
  /** How long the link of the first start signs in. */
  signInCodeMs: 60 * 60 * 1_000,
  tokenChars: 4_096,
  invitationsPerOrganization: 1_000,
  invitationMs: 7 * 24 * 60 * 60 * 1_000,
  auditEntriesPerOrganization: 100_000,
  auditDays: 400,
  /** A wrong password is put on record once in that time for one account, and so often a day for one organization, on each node. */
  failedLoginAuditMs: 60 * 60 * 1_000,
  failedLoginAuditsPerDay: 50,
  /** Of one account from all addresses; each one more doubles the wait for the next. */
  loginFailuresUnslowed: 20,
  loginSlowdownMaxMs: 60_000,
  loginFamiliarMs: 30 * 24 * 60 * 60 * 1_000,
  loginFailures: 10,
  loginFailuresPerAddress: 100,
  loginWindowMs: 15 * 60 * 1_000,
  loginAddressesTracked: 10_000,
} as const;
