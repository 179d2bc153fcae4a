import { isWithin, parseIp, type IpAddress } from "../lib/ip-address.ts";

type Network = { address: IpAddress; prefixBits: number };

function network(cidr: string): Network {
  const [text = "", bits = ""] = cidr.split("/");
  const address = parseIp(text);
  if (address === undefined) throw new Error(`${cidr} is no network`);
  return { address, prefixBits: Number(bits) };
}

/** What IANA's registry of special-purpose IPv4 addresses keeps off the internet, and what clouds put there. */
const refusedIpv4 = [
  "0.0.0.0/8", // this host
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT; a cloud's metadata among it
  "127.0.0.0/8",
  "168.63.129.16/32", // Azure's host, reachable from its machines alone
  "169.254.0.0/16", // link-local: metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
].map(network);

/** All unicast addresses of the internet are in here; the rest is loopback, local, multicast or unassigned. */
const globalIpv6 = network("2000::/3");

/** Within it: tunnels, whose far end may be private, and documentation. */
const refusedIpv6 = [
  "2001::/23", // Teredo, ORCHID and other protocols
  "2001:db8::/32",
  "2002::/16", // 6to4
  "3fff::/20",
].map(network);

/** IPv6 networks that stand for IPv4 addresses, which their last four bytes hold. */
const mappedIpv4 = network("::ffff:0:0/96");
const nat64 = network("64:ff9b::/96");

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: IpAddress): boolean {
  if (address.length === 4) return !isInAny(address, refusedIpv4);
  if (isIn(address, mappedIpv4) || isIn(address, nat64)) return isPublicAddress(address.subarray(12));
  return isIn(address, globalIpv6) && !isInAny(address, refusedIpv6);
}

/** An IPv4 address within IPv6 as IPv4: operators allow `10.0.0.0/8` and mean both. */
export function withoutMapping(address: IpAddress): IpAddress {
  return address.length === 16 && isIn(address, mappedIpv4) ? address.subarray(12) : address;
}

const isIn = (address: IpAddress, { address: base, prefixBits }: Network): boolean =>
  isWithin(address, base, prefixBits);

const isInAny = (address: IpAddress, networks: readonly Network[]): boolean =>
  networks.some((each) => isIn(address, each));
