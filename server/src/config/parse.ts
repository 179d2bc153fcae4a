import { isIP } from "node:net";
import type { AllowedUpstream } from "../domain/allowed-upstream.ts";
import type { ProxyTrust } from "../http/client-address.ts";
import { Secret } from "../lib/secret.ts";

/**
 * Parses the text of one variable. Throws `BadValue` with a phrase that completes "NAME …" and never repeats the value.
 */
export type Parse<T> = (text: string) => T;

export class BadValue extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadValue";
  }
}

export const text: Parse<string> = (value) => value;

export function integer(min: number, max: number): Parse<number> {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isNaN(number) || number < min || number > max) {
      throw new BadValue(`must be a whole number from ${min} to ${max}`);
    }
    return number;
  };
}

const byteUnits: Record<string, number> = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** `1073741824`, `512MiB`, `2GiB`. */
export function bytes(min: number): Parse<number> {
  return (value) => {
    const [, digits, unit = ""] = /^(\d+) ?(KiB|MiB|GiB)?$/.exec(value) ?? [];
    const size = Number(digits) * (byteUnits[unit] ?? Number.NaN);
    if (!Number.isSafeInteger(size) || size < min) {
      throw new BadValue(`must be a size of at least ${min} bytes, as in 1073741824, 512MiB or 2GiB`);
    }
    return size;
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): Parse<T> {
  return (value) => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new BadValue(`must be one of ${choices.join(", ")}`);
    return found;
  };
}

/** An http(s) URL without query or fragment, returned without its trailing slash. */
export const baseUrl: Parse<string> = (value) => {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new BadValue("must be an http:// or https:// address without query or fragment");
  }
  if (url.username !== "" || url.password !== "") throw new BadValue("must not hold a user name or password");
  return url.href.replace(/\/+$/, "");
};

/** `*`, or origins as browsers send them: scheme, host and port. */
export const corsOrigins: Parse<"*" | ReadonlySet<string>> = (value) => {
  if (value.trim() === "*") return "*";
  const entries = value.split(",").map((entry) => entry.trim());
  return new Set(entries.filter((entry) => entry !== "").map(originOf));
};

/** Browsers omit the default port, and write hosts in lower case. Extensions and apps have their own schemes. */
function originOf(entry: string): string {
  const [, origin] = /^([a-z][a-z\d+.-]*:\/\/[^\s/?#@*,"]+)$/i.exec(entry) ?? [];
  const url = origin === undefined ? null : URL.parse(origin);
  if (url === null || url.host === "") {
    throw new BadValue(
      `must be * or list origins separated by commas, as in https://app.example.com or http://localhost:3000; "${entry}" is not an origin`,
    );
  }
  return `${url.protocol}//${url.host}`;
}

/** The public id is part of paths, so its characters need no escaping. */
export const organizationId: Parse<string> = (value) => {
  if (!/^[\w-]{1,64}$/.test(value)) {
    throw new BadValue("must be 1 to 64 letters, digits, hyphens and underscores");
  }
  return value;
};

export const email: Parse<string> = (value) => {
  if (!/^[^\s@]+@[^\s@]+$/.test(value) || value.length > 254) throw new BadValue("must be an e-mail address");
  return value.toLowerCase();
};

/** `smtp://` or `smtps://`, with user and password if the server requires them. */
export const smtpUrl: Parse<Secret> = (value) => {
  const url = URL.parse(value);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === "" || /[\s\p{Cc}]/u.test(value)) {
    throw new BadValue("must be an address such as smtp://user:password@mail.example.com:587 or smtps://…");
  }
  return new Secret(value);
};

export function secret(minChars: number): Parse<Secret> {
  return (value) => {
    if (value.length < minChars) throw new BadValue(`must have at least ${minChars} characters`);
    return new Secret(value);
  };
}

/** A secret that is sent in a header, so it is printable ASCII. */
export const headerSecret: Parse<Secret> = (value) => {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new BadValue("must be printable ASCII without spaces");
  return new Secret(value);
};

/** An API key is sent in a header, so it is printable ASCII; a credential with dots is read as a JWT. */
export const apiKey: Parse<Secret> = (value) => {
  if (!/^[\x21-\x2d\x2f-\x7e]{16,256}$/.test(value)) {
    throw new BadValue("must be 16 to 256 printable ASCII characters without spaces and dots");
  }
  return new Secret(value);
};

/** A comma-separated list of `host`, `host:port`, `[ipv6]:port` and `address/bits`. */
export const allowedUpstreams: Parse<AllowedUpstream[]> = (value) =>
  value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => network(entry) ?? host(entry));

function network(entry: string): AllowedUpstream | undefined {
  const [, address = "", bits] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits === undefined) return undefined;
  const family = isIP(address);
  const prefixBits = Number(bits);
  if (family === 0 || prefixBits > (family === 4 ? 32 : 128)) throw badUpstream(entry);
  return { kind: "network", address, prefixBits };
}

const hopsMax = 32;

/** `true` means one proxy. Undefined: none is trusted. */
export const proxyTrust: Parse<ProxyTrust | undefined> = (value) => {
  if (value === "false" || value === "0") return undefined;
  if (value === "true") return { hops: 1 };
  if (/^\d+$/.test(value)) return { hops: integer(1, hopsMax)(value) };
  const networks = value.split(",").map((entry) => addressOrNetwork(entry.trim()));
  if (networks.every((each) => each !== undefined)) return { networks };
  throw new BadValue(`must be a number of proxies up to ${hopsMax}, or addresses and address/bits separated by commas`);
};

function addressOrNetwork(entry: string): { address: string; prefixBits: number } | undefined {
  const [address = "", bits] = entry.split("/");
  const most = { 0: undefined, 4: 32, 6: 128 }[isIP(address)];
  const prefixBits = bits === undefined ? most : Number(/^\d{1,3}$/.test(bits) ? bits : Number.NaN);
  const isGood = most !== undefined && prefixBits !== undefined && prefixBits <= most;
  return isGood ? { address, prefixBits } : undefined;
}

function host(entry: string): AllowedUpstream {
  if (isIP(entry) === 6) return { kind: "host", host: entry, port: null };
  const [, bracketed, name = bracketed, digits] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(entry) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (name === undefined || (bracketed !== undefined && isIP(bracketed) !== 6)) throw badUpstream(entry);
  if (port !== null && (port < 1 || port > 65_535)) throw badUpstream(entry);
  // Refuses values meant as a switch; no host has such a name.
  if (/^(?:true|false|yes|no|on|off|all|\d{1,2})$/i.test(entry)) throw badUpstream(entry);
  return { kind: "host", host: name.toLowerCase(), port };
}

function badUpstream(entry: string): BadValue {
  return new BadValue(`must list hosts, host:port and address/bits, separated by commas; "${entry}" is not valid`);
}
