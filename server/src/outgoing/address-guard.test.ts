import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isWithin, parseIp } from "../lib/ip-address.ts";
import type { AllowedUpstream } from "../domain/allowed-upstream.ts";
import { outgoingLimits } from "./limits.ts";
import { AddressRefused, createAddressGuard, isPublicAddress, type Resolve } from "./address-guard.ts";
import { createPools, type HostTrust } from "./pools.ts";

const isPublic = (text: string): boolean => {
  const address = parseIp(text);
  if (address === undefined) throw new Error(`${text} is no address`);
  return isPublicAddress(address);
};

const ignored = {
  onRequestStart: () => undefined,
  onResponseStart: () => undefined,
  onResponseData: () => undefined,
  onResponseEnd: () => undefined,
};

describe("which addresses are public", () => {
  test.each([
    ..."0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 168.63.129.16".split(" "),
    ..."169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.168.1.1 198.18.0.1 224.0.0.1".split(" "),
    ..."239.255.255.255 240.0.0.1 255.255.255.255".split(" "),
    ...":: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::10.0.0.1".split(" "),
    ..."64:ff9b::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1:: 2002:a00:1::1 2001::1 2001:db8::1 fc00::1 fd00:ec2::254".split(
      " ",
    ),
    ..."fe80::1 fe80::1%eth0 fec0::1 ff02::1 100::1 5f00::1 4000::1".split(" "),
  ])("%s is not", (text) => {
    expect(isPublic(text)).toBe(false);
  });

  test.each(
    "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 169.253.0.1 223.255.255.255 2606:4700::1111 2a00:1450:4001::200e ::ffff:8.8.8.8 64:ff9b::8.8.8.8".split(
      " ",
    ),
  )("%s is", (text) => {
    expect(isPublic(text)).toBe(true);
  });

  test("an IPv4 address gets the same result in every notation within IPv6", () => {
    const octets = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(octets, (parts) => {
        const text = parts.join(".");
        const [a = 0, b = 0, c = 0, d = 0] = parts;
        const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const spellings = [`::ffff:${text}`, `::ffff:${groups}`, `0:0:0:0:0:ffff:${text}`, `64:ff9b::${groups}`];
        for (const spelling of spellings) expect(isPublic(spelling)).toBe(isPublic(text));
      }),
    );
  });

  test("every address of a private network is refused, its neighbours outside are not", () => {
    const networks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "fc00::/7"];
    fc.assert(
      fc.property(fc.constantFrom(...networks), fc.uint8Array({ minLength: 16, maxLength: 16 }), (cidr, noise) => {
        const [base = "", bits = ""] = cidr.split("/");
        const address = Uint8Array.from(parseIp(base) ?? []);
        for (let bit = Number(bits); bit < address.length * 8; bit += 1) {
          const at = bit >> 3;
          const mask = 0x80 >> (bit & 7);
          address[at] = ((address[at] ?? 0) & ~mask) | ((noise[at] ?? 0) & mask);
        }
        expect(isWithin(address, parseIp(base) ?? address, Number(bits))).toBe(true);
        expect(isPublicAddress(address)).toBe(false);
      }),
    );
  });
});

describe("connections", () => {
  let server: Server;
  let port: number;
  const paths: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      paths.push(request.url ?? "");
      if (request.url === "/redirect") response.writeHead(302, { location: "/secret" });
      response.end("hello");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  type Attempt = { allowed?: AllowedUpstream[]; resolve?: Resolve; trust?: HostTrust; path?: string };

  /** The status of one GET; rejects with the error. */
  async function get(origin: string, { allowed = [], resolve, trust = "guarded", path = "/" }: Attempt = {}) {
    const guard = createAddressGuard({ allowed, connectMs: 1_000, ...(resolve && { resolve }) });
    const pools = createPools({ guard });
    try {
      return await new Promise<number>((done, reject) => {
        let status = 0;
        pools.dispatch(
          origin,
          trust,
          { method: "GET", path },
          {
            ...ignored,
            onResponseStart: (_controller, statusCode) => void (status = statusCode),
            onResponseEnd: () => done(status),
            onResponseError: (_controller, error) => reject(error),
          },
        );
      });
    } finally {
      pools.close();
    }
  }

  const privately: Resolve = (_host, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);

  test.each([
    "http://127.0.0.1",
    "http://127.1",
    "http://2130706433",
    "http://0x7f000001",
    "http://0177.0.0.1",
    "http://0.0.0.0",
    "http://[::1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]",
    "http://localhost",
  ])("to %s are refused, and the server there receives no request", async (host) => {
    const before = paths.length;
    await expect(get(`${new URL(host).origin}:${port}`)).rejects.toThrow(AddressRefused);
    expect(paths.length).toBe(before);
  });

  test("are made for hosts, hosts with a port and networks that the operator allows, and for no other port", async () => {
    const origin = `http://127.0.0.1:${port}`;
    expect(await get(origin, { allowed: [{ kind: "host", host: "127.0.0.1", port: null }] })).toBe(200);
    expect(await get(origin, { allowed: [{ kind: "host", host: "127.0.0.1", port }] })).toBe(200);
    expect(await get(origin, { allowed: [{ kind: "network", address: "127.0.0.0", prefixBits: 8 }] })).toBe(200);
    expect(await get(`http://localhost:${port}`, { allowed: [{ kind: "host", host: "localhost", port }] })).toBe(200);
    await expect(get(origin, { allowed: [{ kind: "host", host: "127.0.0.1", port: port + 1 }] })).rejects.toThrow(
      AddressRefused,
    );
    await expect(get(origin, { allowed: [{ kind: "network", address: "10.0.0.0", prefixBits: 8 }] })).rejects.toThrow(
      AddressRefused,
    );
  });

  test("K18: an unknown name, a private one and one without addresses give the same error after the same time", async () => {
    const unknown: Resolve = (_host, done) => done(Object.assign(new Error("x"), { code: "ENOTFOUND" }), []);
    const refusals = [];
    for (const resolve of [privately, unknown, ((_host, done) => done(null, [])) as Resolve]) {
      const startedMs = performance.now();
      const error: unknown = await get(`http://db.internal:${port}`, { resolve }).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(AddressRefused);
      refusals.push(String(error));
      expect(performance.now() - startedMs).toBeGreaterThan(outgoingLimits.addressRefusedMs - 5);
    }
    expect(new Set(refusals).size).toBe(1);
  });

  test("K18: errors of hosts that the operator allowed by name, and of resolvers that do not respond, are passed on", async () => {
    const failing =
      (code: string): Resolve =>
      (_host, done) =>
        done(Object.assign(new Error(code), { code }), []);
    const allowed = [{ kind: "host", host: "db.internal", port: null }] as const;
    const named = get(`http://db.internal:${port}`, { allowed: [...allowed], resolve: failing("ENOTFOUND") });
    await expect(named).rejects.toThrow("ENOTFOUND");
    await expect(get(`http://db.internal:${port}`, { resolve: failing("EAI_AGAIN") })).rejects.toThrow("EAI_AGAIN");
  });

  test("to a host of the operator are made wherever it is", async () => {
    expect(await get(`http://127.0.0.1:${port}`, { trust: "operator" })).toBe(200);
  });

  test("use the address that was checked: a name that becomes private later is refused each time", async () => {
    await expect(get(`http://flip.example:${port}`, { resolve: privately })).rejects.toThrow(AddressRefused);
    let lookups = 0;
    const resolve: Resolve = (_host, done) => {
      lookups += 1;
      done(null, [{ address: lookups === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }]);
    };
    // The first result is allowed but unreachable; there must be no second lookup and no connection to its result.
    const before = paths.length;
    const allowed: AllowedUpstream[] = [{ kind: "network", address: "127.0.0.2", prefixBits: 32 }];
    await expect(get(`http://flip.example:${port}`, { resolve, allowed })).rejects.toThrow("ECONNREFUSED");
    expect(lookups).toBe(1);
    expect(paths.length).toBe(before);
  });

  test("skip private addresses among several of a name", async () => {
    const resolve: Resolve = (_host, done) =>
      done(null, [
        { address: "169.254.169.254", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ]);
    const allowed: AllowedUpstream[] = [{ kind: "network", address: "127.0.0.1", prefixBits: 32 }];
    expect(await get(`http://two.example:${port}`, { resolve, allowed })).toBe(200);
  });

  test("never follow a redirect", async () => {
    const before = paths.length;
    expect(await get(`http://127.0.0.1:${port}`, { trust: "operator", path: "/redirect" })).toBe(302);
    expect(paths.slice(before)).toEqual(["/redirect"]);
  });
});

test("the number of pools is bounded: the least recently used one is evicted", async () => {
  let evictions = 0;
  const guard = createAddressGuard({ allowed: [], connectMs: 100 });
  const pools = createPools({ guard, maxOrigins: 3, onEviction: () => (evictions += 1) });
  const failed: string[] = [];
  for (let n = 1; n <= 5; n += 1) {
    await new Promise<void>((resolve) => {
      pools.dispatch(
        `http://10.0.0.${n}`,
        "guarded",
        { method: "GET", path: "/" },
        {
          ...ignored,
          onResponseError: (_controller, error) => {
            failed.push(error.name);
            resolve();
          },
        },
      );
    });
  }
  pools.close();
  expect(failed).toEqual(Array.from({ length: 5 }, () => "AddressRefused"));
  expect(evictions).toBe(2);
});
