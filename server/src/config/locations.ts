import { resolve } from "node:path";
import { Secret } from "../lib/secret.ts";
import type { ControlLocation } from "../storage/control/open-control-database.ts";
import type { SpansLocation } from "../storage/spans/clickhouse-span-store.ts";
import { BadValue, type Parse } from "./parse.ts";

/** Where counters and cached responses are stored. `url` has the scheme redis or rediss. */
export type CacheLocation = { kind: "memory" } | { kind: "redis"; url: Secret };

export const spansLocation: Parse<SpansLocation> = (value) => {
  if (value.startsWith("chdb:")) return { kind: "chdb", path: filePath(value, "chdb:") };
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new BadValue("must be chdb:<folder> or http(s)://user:password@host:port/database?cluster=name");
  }
  const { cluster = null, ...inserts } = spansParameters(url.searchParams);
  const database = decode(url.pathname.slice(1)) || "default";
  if (!plainName.test(database)) throw new BadValue("must name a plain database: letters, digits, _ and -");
  return {
    kind: "clickhouse",
    url: url.origin,
    username: decode(url.username) || "default",
    password: new Secret(decode(url.password)),
    database,
    cluster,
    inserts,
  };
};

const plainName = /^[A-Za-z_][\w-]*$/;

/** The parameters of the URL of a ClickHouse server. Those of inserts have ClickHouse's names and values. */
const spansParameter: Record<string, { pattern: RegExp; wanted: string }> = {
  // Part of statements that create tables, where bound parameters are not possible.
  cluster: { pattern: plainName, wanted: "a plain name: letters, digits, _ and -" },
  async_insert: { pattern: /^[01]$/, wanted: "0 or 1" },
  insert_quorum: { pattern: /^(?:auto|\d{1,3})$/, wanted: "a number of replicas, or auto" },
};

function spansParameters(search: URLSearchParams): { cluster?: string } & Record<string, string> {
  for (const [name, value] of search) {
    const parameter = spansParameter[name];
    if (parameter === undefined) throw new BadValue(`has an unknown parameter: ${name}`);
    if (!parameter.pattern.test(value)) throw new BadValue(`has a ${name} that is not ${parameter.wanted}`);
  }
  return Object.fromEntries(search);
}

export const controlLocation: Parse<ControlLocation> = (value) => {
  if (value.startsWith("sqlite:")) return { kind: "sqlite", path: filePath(value, "sqlite:") };
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new BadValue("must be sqlite:<file> or postgres://user:password@host:port/database");
  }
  return { kind: "postgres", url: new Secret(value) };
};

export const cacheLocation: Parse<CacheLocation> = (value) => {
  if (value === "memory:") return { kind: "memory" };
  const [, scheme, tls] = /^(redis|valkey)(s?):\/\//.exec(value) ?? [];
  if (scheme === undefined || !URL.canParse(value)) {
    throw new BadValue("must be memory:, redis://host:port, rediss://host:port or valkey://host:port");
  }
  return { kind: "redis", url: new Secret(value.replace(/^[a-z]+:/, `redis${tls}:`)) };
};

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new BadValue("has a % that does not begin an escape; write it as %25");
  }
}

function filePath(value: string, scheme: string): string {
  const path = value.slice(scheme.length);
  if (path === "") throw new BadValue(`needs a path after ${scheme}`);
  return resolve(path);
}
