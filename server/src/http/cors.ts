import type { OutgoingHttpHeaders } from "node:http";
import { ServiceError } from "../domain/errors.ts";
import { logIdHeaders } from "../domain/product-families.ts";
import type { Incoming } from "./incoming.ts";
import type { Kernel } from "./kernel.ts";
import { Reply } from "./reply.ts";

/**
 * Which web pages may call: those of these origins, spelled as browsers do, or all (`*`). Undefined: only the server's
 * own.
 */
export type CorsOrigins = "*" | ReadonlySet<string> | undefined;

/**
 * Response headers that scripts may read. `*` covers those of providers; browsers honour it because no cookies are
 * sent.
 */
const exposed = [
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  "x-spanway-log-id",
  ...logIdHeaders,
  "x-spanway-attempts",
  "x-spanway-overhead-ms",
  "x-spanway-provider",
  "x-spanway-model",
  "x-spanway-cache",
  "x-spanway-adjusted",
  "x-spanway-request-breakdown",
  "*",
].join(", ");

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** How long browsers may cache a preflight response; some use a lower maximum. */
const maxAgeS = 7_200;

/**
 * Headers of every response to a page that may read it; undefined for every other caller. Credentials are never
 * allowed: keys are sent in headers.
 */
export function corsHeaders(origins: CorsOrigins, origin: string | undefined): OutgoingHttpHeaders | undefined {
  if (origins === undefined || origin === undefined) return undefined;
  if (origins === "*") return { "access-control-allow-origin": "*", "access-control-expose-headers": exposed };
  if (!origins.has(origin)) return undefined;
  return { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, vary: "origin" };
}

/**
 * The response to a preflight request: any method and any headers. Undefined for other requests, and if the origin may
 * not call.
 */
export function preflightReply(origins: CorsOrigins, { method, headers }: Incoming): Reply | undefined {
  if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return undefined;
  if (corsHeaders(origins, headers.origin) === undefined) return undefined;
  const requested = headers["access-control-request-headers"];
  return new Reply(204, undefined, {
    "access-control-allow-methods": methods,
    ...(requested !== undefined && { "access-control-allow-headers": requested }),
    "access-control-max-age": String(maxAgeS),
  });
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Refuses a request of a web page unless the page is of this machine, of the configured public URL, or of an allowed
 * origin (`SPANWAY_CORS_ORIGINS`). The `Host` header proves nothing: a page whose name was rebound to this server's
 * address sends that name in both.
 *
 * @throws ServiceError `forbidden`
 */
export function refuseForeignOrigin(
  { publicUrl, corsOrigins }: Pick<Kernel, "publicUrl" | "corsOrigins">,
  origin: string | undefined,
): void {
  if (origin === undefined || corsHeaders(corsOrigins, origin) !== undefined) return;
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  if (page !== undefined && loopback.has(page.hostname)) return;
  if (page !== undefined && publicUrl !== undefined && page.origin === new URL(publicUrl).origin) return;
  const message = "Pages of this Origin are not allowed. SPANWAY_PUBLIC_URL and SPANWAY_CORS_ORIGINS define which are.";
  throw new ServiceError("forbidden", message);
}
