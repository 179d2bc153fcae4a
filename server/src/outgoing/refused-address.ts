import { isIP } from "node:net";
import type { AllowedUpstream } from "../domain/allowed-upstream.ts";
import { createAllowance, isNamedIn, refusalText } from "./address-guard.ts";

/**
 * Says why the server will refuse to call an address. It looks at the URL only and resolves no names: if it returns undefined, the check at
 * connect time may still refuse the call.
 */
export type RefusalOf = (url: string) => string | undefined;

/** Ends of names that no resolver of the internet knows. */
const privateName = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan)$/;

export function createRefusalOf(allowed: readonly AllowedUpstream[]): RefusalOf {
  const isNamed = (host: string, port: number): boolean => isNamedIn(allowed, host, port);
  const isAllowed = createAllowance(allowed, isNamed);
  const hasNetworks = allowed.some(({ kind }) => kind === "network");
  return (text) => {
    const url = URL.parse(text);
    if (url === null) return undefined;
    const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    const isOpen = (address: string): boolean => isAllowed(host, port, address);
    if (isIP(host) !== 0) return isOpen(host) ? undefined : refusalText(host);
    if (/(?:^|\.)localhost$/.test(host)) return isOpen("127.0.0.1") || isOpen("::1") ? undefined : refusalText(host);
    // A name of a private network may have an address in one that is allowed.
    const isPrivate = !host.includes(".") || privateName.test(host);
    return isPrivate && !hasNetworks && !isNamed(host, port) ? refusalText(host) : undefined;
  };
}
