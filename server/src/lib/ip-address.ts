import { isIP } from "node:net";

/** An address as its 4 or 16 bytes. */
export type IpAddress = Uint8Array;

/** Undefined if the text is not an address in its usual notation; a zone (`%eth0`) is ignored. */
export function parseIp(text: string): IpAddress | undefined {
  const family = isIP(text);
  if (family === 4) return Uint8Array.from(text.split("."), Number);
  return family === 6 ? parseIpv6(text.split("%")[0] ?? "") : undefined;
}

function parseIpv6(text: string): IpAddress {
  const [head = "", tail] = text.split("::");
  const left = bytesOf(head);
  const right = bytesOf(tail ?? "");
  const bytes = new Uint8Array(16);
  bytes.set(left, 0);
  bytes.set(right, 16 - right.length);
  return bytes;
}

/** The bytes of one half of the address; its last group may be an IPv4 address. */
function bytesOf(half: string): number[] {
  if (half === "") return [];
  return half.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Whether the first `prefixBits` bits are equal; addresses of different families never match. */
export function isWithin(address: IpAddress, network: IpAddress, prefixBits: number): boolean {
  if (address.length !== network.length) return false;
  const whole = prefixBits >> 3;
  for (let i = 0; i < whole; i += 1) if (address[i] !== network[i]) return false;
  const rest = prefixBits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((address[whole] ?? 0) & mask) === ((network[whole] ?? 0) & mask);
}
