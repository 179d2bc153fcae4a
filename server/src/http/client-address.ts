import { isWithin, parseIp, type IpAddress } from "../lib/ip-address.ts";

/**
 * The proxies whose `X-Forwarded-For` is trusted: a number of hops counted from this server, or those within networks.
 * Proxies append to the header, so everything left of their own entries may be forged.
 */
export type ProxyTrust = { hops: number } | { networks: readonly { address: string; prefixBits: number }[] };

export type ClientAddresses = {
  /** The address behind the trusted proxies. */
  of: (peer: string, forwardedFor: string | undefined) => string;
  /** Whether the peer is a trusted proxy, whose other `X-Forwarded-…` headers are trusted too. */
  isProxy: (peer: string) => boolean;
};

export function createClientAddresses(trust: ProxyTrust | undefined): ClientAddresses {
  if (trust === undefined) return { of: (peer) => peer, isProxy: () => false };
  const isTrusted = "hops" in trust ? (_address: string, hop: number) => hop < trust.hops : withinAny(trust.networks);
  return {
    isProxy: (peer) => isTrusted(peer, 0),
    of: (peer, forwardedFor) => {
      const forwarded = (forwardedFor ?? "").split(",").map(addressIn);
      let address = peer;
      for (let hop = 0; isTrusted(address, hop); hop += 1) {
        const before = forwarded.at(-1 - hop);
        if (before === undefined || hop >= forwarded.length) break;
        address = before;
      }
      return address;
    },
  };
}

/** Some proxies append the port. Returns undefined for text that is not an address. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return parseIp(address) === undefined ? undefined : address;
}

function withinAny(networks: readonly { address: string; prefixBits: number }[]): (address: string) => boolean {
  const parsed = networks.flatMap(({ address, prefixBits }) => {
    const bytes = parseIp(address);
    return bytes === undefined ? [] : [{ bytes, prefixBits }];
  });
  return (text) => {
    const address = parseIp(text);
    if (address === undefined) return false;
    const forms = [address, ...unmapped(address)];
    return parsed.some(({ bytes, prefixBits }) => forms.some((form) => isWithin(form, bytes, prefixBits)));
  };
}

const mappedPrefix = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

/** A socket that listens on IPv6 reports IPv4 peers as `::ffff:10.0.0.1`. */
function unmapped(address: IpAddress): IpAddress[] {
  return isWithin(address.subarray(0, 12), mappedPrefix, 96) ? [address.subarray(12)] : [];
}
