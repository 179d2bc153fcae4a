import type { Logger } from "pino";
import type { FairGate } from "../lib/fair-gate.ts";
import type { Audit } from "./audit.ts";
import type { Authenticator } from "./authenticate.ts";
import type { BodyMemory } from "./body-memory.ts";
import type { ClientAddresses } from "./client-address.ts";
import type { CorsOrigins } from "./cors.ts";
import type { RequestContext } from "./context.ts";
import type { HttpMetrics } from "./metrics.ts";
import type { RateLimiter } from "./rate-limit.ts";

/** The state and services of the server that every request needs. */
export type Kernel = {
  readonly authenticator: Authenticator;
  /** Whether an operator blocked the organization from writing. */
  readonly isBlocked: (organizationId: string) => boolean;
  readonly audit: Audit;
  readonly rateLimiter: RateLimiter;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  /** Writes one log line per request. */
  readonly requestLogger: Logger;
  /** The level of these lines for requests that succeed. */
  readonly requestLevel: "info" | "debug";
  readonly bodyMemory: BodyMemory;
  /** Queue for bodies with a `Content-Encoding`. */
  readonly unpacking: FairGate;
  /** Fair queue, by organization, for requests that read much of the span store. */
  readonly reading: FairGate;
  readonly publicUrl: string | undefined;
  readonly corsOrigins: CorsOrigins;
  readonly addresses: ClientAddresses;
  readonly listeningUrl: () => string;
  /** True once the server stops accepting connections or drains. */
  closing: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Requests not yet answered. */
  inFlight: number;
  /**
   * Requests whose handlers write the response themselves: on shutdown they are notified before their connections are
   * closed.
   */
  readonly hijacked: Set<RequestContext>;
};
