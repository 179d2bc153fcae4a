import fc from "fast-check";
import { expect, test } from "vitest";
import { createClientAddresses, type ProxyTrust } from "./client-address.ts";

const networks: ProxyTrust = {
  networks: [
    { address: "10.0.0.0", prefixBits: 8 },
    { address: "::1", prefixBits: 128 },
  ],
};

test.each<[string, ProxyTrust | undefined, peer: string, header: string | undefined, expected: string]>([
  ["no proxy is trusted", undefined, "10.0.0.1", "1.1.1.1", "10.0.0.1"],
  ["one proxy appends", { hops: 1 }, "10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"],
  ["two proxies append", { hops: 2 }, "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"],
  ["there are fewer entries than proxies", { hops: 3 }, "10.0.0.1", "1.1.1.1", "1.1.1.1"],
  ["the proxy sends nothing", { hops: 1 }, "10.0.0.1", undefined, "10.0.0.1"],
  ["the proxy sends junk", { hops: 1 }, "10.0.0.1", "1.1.1.1, unknown", "10.0.0.1"],
  ["the proxy writes ports", { hops: 1 }, "10.0.0.1", "1.1.1.1:4711", "1.1.1.1"],
  ["the proxy writes IPv6 with ports", { hops: 1 }, "10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
  ["networks are trusted", networks, "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.9.9.9", "1.1.1.1"],
  ["a stranger connects to it", networks, "8.8.8.8", "1.1.1.1", "8.8.8.8"],
  ["all are proxies", networks, "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["the peer is IPv4 within IPv6", networks, "::ffff:10.0.0.1", "1.1.1.1", "1.1.1.1"],
  ["IPv6 loopback is trusted", networks, "::1", "1.1.1.1", "1.1.1.1"],
  ["an address that looks like the network", networks, "110.0.0.1", "1.1.1.1", "110.0.0.1"],
])("K11: the client's address if %s", (_name, trust, peer, header, expected) => {
  expect(createClientAddresses(trust).of(peer, header)).toBe(expected);
});

test("K11: a header forged by a client never changes the address that the proxy reports", () => {
  const { of } = createClientAddresses({ hops: 1 });
  fc.assert(fc.property(fc.string(), (forged) => of("10.0.0.1", `${forged}, 1.2.3.4`) === "1.2.3.4"));
});

test("K11: hosts and protocols are accepted only from trusted proxies", () => {
  expect(createClientAddresses(networks).isProxy("10.1.1.1")).toBe(true);
  expect(createClientAddresses(networks).isProxy("8.8.8.8")).toBe(false);
  expect(createClientAddresses(undefined).isProxy("10.1.1.1")).toBe(false);
});
