import { isIP } from "node:net";
import type { AllowedUpstream } from "../domain/allowed-upstream.ts";
import { createAllowance, isNamedIn, refusalText } from "./address-guard.ts";

/**
 * Returns why the server will refuse to call an address. It checks only the URL and resolves no names: if it returns
 * undefined, the check at connect time may still refuse the call.
 */
export type RefusalOf = (url: string) => string | undefined;

/** Suffixes of names that public DNS does not resolve. */
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
    // A private name may resolve to an address in an allowed network.
    const isPrivate = !host.includes(".") || privateName.test(host);
    return isPrivate && !hasNetworks && !isNamed(host, port) ? refusalText(host) : undefined;
  };
}
