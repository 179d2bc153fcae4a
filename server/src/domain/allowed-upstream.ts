/** Exceptions of the guard against private upstream addresses. `port` null means every port. */
export type AllowedUpstream =
  | { kind: "host"; host: string; port: number | null }
  | { kind: "network"; address: string; prefixBits: number };
