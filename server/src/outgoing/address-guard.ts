import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type OnReadOpts, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { AllowedUpstream } from "../domain/allowed-upstream.ts";
import { isWithin, parseIp, type IpAddress } from "../lib/ip-address.ts";
import { outgoingLimits } from "./limits.ts";

/**
 * A connection was refused because the host has no public address. The error does not reveal whether the host has a
 * private address or does not exist: callers choose hosts, and could otherwise discover internal names.
 */
export class AddressRefused extends Error {
  constructor(host: string) {
    super(refusalText(host));
    this.name = "AddressRefused";
  }
}

export function refusalText(host: string): string {
  return `${host} is not a public address; SPANWAY_ALLOW_PRIVATE_UPSTREAMS can allow a private one`;
}

export type Connector = ReturnType<typeof buildConnector>;

/** Resolves a name to all of its addresses; fails as `dns.lookup` does. */
export type Resolve = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveAll: Resolve = (host, done) => resolve(host, { all: true }, done);

export type AddressGuard = {
  /** Connects only to public addresses and to those that are allowed. */
  guarded: Connector;
  /** Connects anywhere, for hosts that the operator configured. */
  open: Connector;
};

/**
 * Checks every address when connecting: the socket connects to exactly the addresses that were checked, so that a name
 * that resolves differently the next time gains nothing (DNS rebinding).
 */
export function createAddressGuard({
  allowed,
  connectMs,
  resolve = resolveAll,
}: {
  allowed: readonly AllowedUpstream[];
  connectMs: number;
  resolve?: Resolve;
}): AddressGuard {
  const isNamed = (host: string, port: number): boolean => isNamedIn(allowed, host.toLowerCase(), port);
  const isAllowed = createAllowance(allowed, isNamed);
  const options = { timeout: connectMs, allowH2: false, onread: sharedReads() };
  const open = buildConnector(options);

  const connectorOf = (port: number): Connector => buildConnector({ ...options, lookup: guardedLookup(port) });
  const connectors = new Map<number, Connector>();

  const guardedLookup =
    (port: number): LookupFunction =>
    (host, { all }, done) => {
      const startedMs = performance.now();
      const refuse = (): void => {
        // Internal names resolve faster than unknown ones: delaying both refusals to the same time hides the
        // difference.
        const waitMs = outgoingLimits.addressRefusedMs - (performance.now() - startedMs);
        setTimeout(() => done(new AddressRefused(host), []), Math.max(0, waitMs));
      };
      resolve(host, (error, addresses) => {
        if (error) return unknownName.has(error.code ?? "") && !isNamed(host, port) ? refuse() : done(error, []);
        const good = addresses.filter(({ address }) => isAllowed(host, port, address));
        const [first] = good;
        if (first === undefined) return refuse();
        return all === true ? done(null, good) : done(null, first.address, first.family);
      });
    };

  const guarded: Connector = (target, done) => {
    const host = target.hostname.replace(/^\[|\]$/g, "");
    const port = Number(target.port) || (target.protocol === "https:" ? 443 : 80);
    // Node does not call `lookup` for an IP address.
    if (isIP(host) !== 0 && !isAllowed(host, port, host)) {
      queueMicrotask(() => done(new AddressRefused(host), null));
      return;
    }
    // A connector caches TLS sessions, so there is one per port; few ports are in use, and callers must not be able to
    // fill memory.
    let connector = connectors.get(port);
    if (connector === undefined) {
      if (connectors.size >= maxConnectors) connectors.clear();
      connectors.set(port, (connector = connectorOf(port)));
    }
    connector({ ...target, hostname: host }, done);
  };

  return { guarded, open };
}

const maxConnectors = 64;

/** The name does not exist, or has no address. A resolver that does not respond is a different error. */
const unknownName: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA"]);

export function isNamedIn(allowed: readonly AllowedUpstream[], host: string, port: number): boolean {
  return allowed.some((entry) => entry.kind === "host" && entry.host === host && (entry.port ?? port) === port);
}

export function createAllowance(
  allowed: readonly AllowedUpstream[],
  isNamed: (host: string, port: number) => boolean,
): (host: string, port: number, address: string) => boolean {
  const networks = allowed.flatMap((entry) => {
    if (entry.kind !== "network") return [];
    const address = parseIp(entry.address);
    return address === undefined ? [] : [{ address, prefixBits: entry.prefixBits }];
  });
  return (host, port, text) => {
    const address = parseIp(text);
    if (address === undefined) return false;
    if (isPublicAddress(address)) return true;
    const plain = withoutMapping(address);
    return isNamed(host, port) || networks.some(({ address: base, prefixBits }) => isWithin(plain, base, prefixBits));
  };
}

type Network = { address: IpAddress; prefixBits: number };

function network(cidr: string): Network {
  const [text = "", bits = ""] = cidr.split("/");
  const address = parseIp(text);
  if (address === undefined) throw new Error(`${cidr} is not a network`);
  return { address, prefixBits: Number(bits) };
}

/** Special-purpose IPv4 addresses of IANA's registry that are not public, and addresses of cloud metadata services. */
const refusedIpv4 = [
  "0.0.0.0/8", // this host
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT; includes a cloud's metadata service
  "127.0.0.0/8",
  "168.63.129.16/32", // Azure's host, reachable only from its virtual machines
  "169.254.0.0/16", // link-local: metadata services of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
].map(network);

/** Contains all public unicast addresses; everything else is loopback, local, multicast or unassigned. */
const globalIpv6 = network("2000::/3");

/** Networks within it for tunnels, whose far end may be private, and for documentation. */
const refusedIpv6 = [
  "2001::/23", // Teredo, ORCHID and other protocols
  "2001:db8::/32",
  "2002::/16", // 6to4
  "3fff::/20",
].map(network);

/** IPv6 networks that represent IPv4 addresses, which are their last four bytes. */
const mappedIpv4 = network("::ffff:0:0/96");
const nat64 = network("64:ff9b::/96");

/** Whether an address is on the public internet. */
export function isPublicAddress(address: IpAddress): boolean {
  if (address.length === 4) return !isInAny(address, refusedIpv4);
  if (isIn(address, mappedIpv4) || isIn(address, nat64)) return isPublicAddress(address.subarray(12));
  return isIn(address, globalIpv6) && !isInAny(address, refusedIpv6);
}

/** Converts an IPv4-mapped IPv6 address to IPv4: operators allow `10.0.0.0/8` and mean both. */
function withoutMapping(address: IpAddress): IpAddress {
  return address.length === 16 && isIn(address, mappedIpv4) ? address.subarray(12) : address;
}

const isIn = (address: IpAddress, { address: base, prefixBits }: Network): boolean =>
  isWithin(address, base, prefixBits);

const isInAny = (address: IpAddress, networks: readonly Network[]): boolean =>
  networks.some((each) => isIn(address, each));

const bufferBytes = 64 * 1024;

/**
 * Socket options with which all sockets read into one buffer: each read is processed before the next begins. Unlike the
 * default, no buffer is allocated per read, most of which would be nearly empty, and `pause` stops reading immediately
 * instead of after 64 KiB more. Sockets emit `data` as usual, with bytes that the listener owns.
 */
export function sharedReads(): OnReadOpts {
  return {
    buffer: Buffer.allocUnsafeSlow(bufferBytes),
    callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
      this.emit("data", Buffer.from(buffer.subarray(0, bytes)));
      return true;
    },
  };
}
