/** What the guard against private upstream addresses lets through. `port` null means every port. */
export type AllowedUpstream =
  | { kind: "host"; host: string; port: number | null }
  | { kind: "network"; address: string; prefixBits: number };
