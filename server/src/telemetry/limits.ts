const KiB = 1024;

/** Limits of logs and metrics, with the unit in each name. */
export const telemetryLimits = {
  readinessMs: 2_000,
  /** How long lines may be buffered, and how many characters: fewer than 16,384, as the library requires. */
  logLineWaitMs: 100,
  logLineChars: 8 * KiB,
} as const;
