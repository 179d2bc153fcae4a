import { isWithin, parseIp, type IpAddress } from "../lib/ip-address.ts";

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
export function withoutMapping(address: IpAddress): IpAddress {
  return address.length === 16 && isIn(address, mappedIpv4) ? address.subarray(12) : address;
}

const isIn = (address: IpAddress, { address: base, prefixBits }: Network): boolean =>
  isWithin(address, base, prefixBits);

const isInAny = (address: IpAddress, networks: readonly Network[]): boolean =>
  networks.some((each) => isIn(address, each));
