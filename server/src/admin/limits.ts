/** Limits of the command line, with the unit in each name. */
export const adminLimits = {
  blockedOrganizationsEveryMs: 3_000,
} as const;
