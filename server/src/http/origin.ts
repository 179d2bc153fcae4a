import { ServiceError } from "../domain/errors.ts";
import { corsHeaders } from "./cors.ts";
import type { Kernel } from "./kernel.ts";

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
