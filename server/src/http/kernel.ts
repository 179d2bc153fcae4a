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

/** What every request needs of the server it came to. */
export type Kernel = {
  readonly authenticator: Authenticator;
  /** Whether an operator keeps the organization from writing. */
  readonly isBlocked: (organizationId: string) => boolean;
  readonly audit: Audit;
  readonly rateLimiter: RateLimiter;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  /** Writes the line of each request. */
  readonly requestLogger: Logger;
  readonly bodyMemory: BodyMemory;
  /** Bodies with a `Content-Encoding` take their turn here. */
  readonly unpacking: FairGate;
  /** Requests that read much of the span store take turns here, organization by organization. */
  readonly reading: FairGate;
  readonly publicUrl: string | undefined;
  readonly corsOrigins: CorsOrigins;
  readonly addresses: ClientAddresses;
  readonly listeningUrl: () => string;
  /** True from the moment that the server stops accepting connections. */
  closing: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Requests not yet answered. */
  inFlight: number;
  /** Those whose answers their handlers write themselves: a stop tells them before it cuts them. */
  readonly hijacked: Set<RequestContext>;
};
