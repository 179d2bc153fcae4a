import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig, type EnvironmentVariables } from "./config.ts";
import { providerFields, providers, providerVariables, variables, type Variable } from "./variables.ts";

const table: Variable<unknown>[] = [
  ...Object.values<Variable<unknown>>(variables),
  ...Object.values(providers).flatMap((prefix): Variable<unknown>[] => Object.values(providerVariables(prefix))),
  ...Object.values(providerFields).flatMap((fields): Variable<unknown>[] => Object.values(fields)),
];

function problemsOf(env: EnvironmentVariables): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe("defaults", () => {
  test("an empty environment is enough", () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 8787,
      publicUrl: undefined,
      corsOrigins: undefined,
      trustProxy: undefined,
      dataDir: resolve("data"),
      journalPath: resolve("data/journal"),
      secretKeyPath: resolve("data/secret.key"),
      spans: { kind: "chdb", path: resolve("data/spans") },
      control: { kind: "sqlite", path: resolve("data/control.db") },
      cache: { kind: "memory" },
      bulkCreatePerMinute: 30,
      bulkDeletePerMinute: 10,
      publicTracePerMinute: 60,
      apiPerMinute: 0,
      retentionDays: 0,
      logLevel: "info",
      allowPrivateUpstreams: [],
      unknownVariables: [],
    });
    expect(config.providers.openai).toEqual({ apiKey: undefined, baseUrl: undefined, fields: {} });
  });

  test("requests that succeed are logged, but not on a terminal", () => {
    expect(readConfig({}, false).requestLevel).toBe("info");
    expect(readConfig({}, true).requestLevel).toBe("debug");
  });

  test("all paths follow the data folder, whatever its name", () => {
    const config = readConfig({ SPANWAY_DATA_DIR: "/srv/$&/data" });
    expect(config.spans).toEqual({ kind: "chdb", path: "/srv/$&/data/spans" });
    expect(config.control).toEqual({ kind: "sqlite", path: "/srv/$&/data/control.db" });
    expect(config.journalPath).toBe("/srv/$&/data/journal");
  });

  test("an empty variable counts as absent", () => {
    const empty = Object.fromEntries(table.map(({ name }) => [name, ""]));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe("stores", () => {
  test("a ClickHouse URL is parsed and unescaped", () => {
    const { spans } = readConfig({ SPANWAY_SPANS_URL: "https://us%40er:p%2Fw@ch.example:8443/spans?cluster=main" });
    if (spans.kind !== "clickhouse") throw new Error("expected ClickHouse");
    expect(spans).toMatchObject({
      url: "https://ch.example:8443",
      username: "us@er",
      database: "spans",
      cluster: "main",
    });
    expect(spans.password.reveal()).toBe("p/w");
  });

  test("a ClickHouse URL may contain settings of inserts, by ClickHouse's names", () => {
    const url = "http://localhost:8123/spans?async_insert=1&insert_quorum=auto";
    expect(readConfig({ SPANWAY_SPANS_URL: url }).spans).toMatchObject({
      cluster: null,
      inserts: { async_insert: "1", insert_quorum: "auto" },
    });
  });

  test.each([
    ["async_insert=yes", "async_insert that is not 0 or 1"],
    ["insert_quorum=most", "insert_quorum that is not a number of replicas, or auto"],
    ["cluster=a%20b", "cluster that is not a plain name"],
    ["max_threads=1", "unknown parameter: max_threads"],
  ])("a ClickHouse URL with %s is refused", (search, message) => {
    expect(() => readConfig({ SPANWAY_SPANS_URL: `http://localhost:8123/spans?${search}` })).toThrow(message);
  });

  test("missing parts of a ClickHouse URL have ClickHouse's defaults", () => {
    const { spans } = readConfig({ SPANWAY_SPANS_URL: "http://localhost:8123" });
    expect(spans).toMatchObject({ username: "default", database: "default", cluster: null });
  });

  test.each(["postgres://u:p@h/db", "postgresql://u:p@h:5433/db?sslmode=require"])("Postgres by %s", (url) => {
    const { control } = readConfig({ SPANWAY_CONTROL_URL: url });
    expect(control.kind === "postgres" && control.url.reveal()).toBe(url);
  });

  test.each([
    ["redis://h:6379/1", "redis://h:6379/1"],
    ["rediss://u:p@h", "rediss://u:p@h"],
    ["valkey://h", "redis://h"],
    ["valkeys://h", "rediss://h"],
  ])("%s is %s to the Redis client", (url, expected) => {
    const { cache } = readConfig({ SPANWAY_CACHE_URL: url });
    expect(cache.kind === "redis" && cache.url.reveal()).toBe(expected);
  });

  test.each([
    ["512MiB", 512 * 2 ** 20],
    ["2GiB", 2 ** 31],
    ["1048576", 2 ** 20],
  ])("a size of %s", (text, bytes) => {
    expect(readConfig({ SPANWAY_JOURNAL_MAX_BYTES: text }).journalBytes).toBe(bytes);
  });
});

describe("upstreams that may be private", () => {
  test("hosts, ports and networks of both families", () => {
    const list = "localhost, ollama.lan:11434,10.0.0.0/8,fd00::/8,::1,[::1]:8080,127.0.0.1";
    expect(readConfig({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: list }).allowPrivateUpstreams).toEqual([
      { kind: "host", host: "localhost", port: null },
      { kind: "host", host: "ollama.lan", port: 11434 },
      { kind: "network", address: "10.0.0.0", prefixBits: 8 },
      { kind: "network", address: "fd00::", prefixBits: 8 },
      { kind: "host", host: "::1", port: null },
      { kind: "host", host: "::1", port: 8080 },
      { kind: "host", host: "127.0.0.1", port: null },
    ]);
  });

  test.each([
    "10.0.0.0/33",
    "nonsense/8",
    "host:0",
    "host:70000",
    "http://host",
    "a b",
    "[10.0.0.1]:1",
    "true",
    "1",
    "ALL",
  ])("not %s", (entry) => {
    expect(problemsOf({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: `localhost,${entry}` })).toEqual([
      expect.stringContaining(`"${entry}"`),
    ]);
  });
});

test.each(["compose.yaml", "compose.scale.yaml"])(
  "F5: %s passes every variable of .env, except the paths and ports of its container",
  (name) => {
    const compose = readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");
    expect(compose).toContain("    env_file:\n      - path: .env\n        required: false\n");
    for (const fixed of ["SPANWAY_HOST: 0.0.0.0", "SPANWAY_PORT: 8787", "SPANWAY_DATA_DIR: /data"])
      expect(compose).toContain(`\n      ${fixed}\n`);
  },
);

test("N7: the Dockerfile's health check tests whether the process lives, not whether its stores respond", () => {
  expect(readFileSync(new URL("../../../Dockerfile", import.meta.url), "utf8")).toMatch(/HEALTHCHECK[^]*\/livez/);
});

describe("SPANWAY_CORS_ORIGINS", () => {
  test.each<[text: string, origins: unknown]>([
    ["*", "*"],
    [
      "https://App.example.com:443, http://localhost:3000",
      new Set(["https://app.example.com", "http://localhost:3000"]),
    ],
    ["chrome-extension://abcdefgh", new Set(["chrome-extension://abcdefgh"])],
    ["", undefined],
  ])("%j", (text, origins) => {
    expect(readConfig({ SPANWAY_CORS_ORIGINS: text }).corsOrigins).toEqual(origins);
  });

  test.each([
    "https://a.example/",
    "https://a.example/path",
    "a.example",
    "https://*.example",
    "null",
    "*,https://a.example",
  ])("%s is refused", (text) => {
    expect(problemsOf({ SPANWAY_CORS_ORIGINS: text })).toEqual([
      expect.stringMatching(/^SPANWAY_CORS_ORIGINS must be \*/),
    ]);
  });
});

describe("problems", () => {
  test("are all reported at once, each with its variable", () => {
    const wrong = {
      SPANWAY_PORT: "80a",
      SPANWAY_SPANS_URL: "ftp://x",
      SPANWAY_CONTROL_URL: "sqlite:",
      SPANWAY_CACHE_URL: "memcached://x",
      SPANWAY_PUBLIC_URL: "example.com",
      SPANWAY_ORGANIZATION_ID: "a/b",
      SPANWAY_PROD_KEY: "short",
      SPANWAY_TEST_KEY: "has.a.dot.and.is.long.enough",
      SPANWAY_ADMIN_EMAIL: "nobody",
      SPANWAY_ADMIN_PASSWORD: "short",
      SPANWAY_SECRET_KEY: "short",
      SPANWAY_API_PER_MINUTE: "-1",
      SPANWAY_JOURNAL_MAX_BYTES: "2GB",
      SPANWAY_RETENTION_DAYS: "1.5",
      SPANWAY_LOG_LEVEL: "loud",
      SPANWAY_TRUST_PROXY: "yes",
      OPENAI_BASE_URL: "openai",
    };
    const problems = problemsOf(wrong);
    expect(problems.map((problem) => problem.replace(/ .*/, "")).sort()).toEqual(Object.keys(wrong).sort());
    expect(new ConfigError(problems).message).toContain("SPANWAY_PORT must be a whole number from 0 to 65535");
  });

  test("never repeat a secret", () => {
    const env = {
      SPANWAY_SECRET_KEY: "sesame",
      SPANWAY_PROD_KEY: "sesame",
      SPANWAY_ADMIN_PASSWORD: "sesame",
      SPANWAY_CONTROL_URL: "mysql://u:sesame@h/db",
      SPANWAY_CACHE_URL: "memcached://u:sesame@h",
      SPANWAY_SPANS_URL: "https://u:sesame%@h/db",
      OPENAI_BASE_URL: "https://u:sesame@h/v1",
    };
    const problems = problemsOf(env);
    expect(problems).toHaveLength(7);
    expect(problems.join()).not.toContain("sesame");
  });

  test("the two first keys must differ", () => {
    const key = "0123456789abcdef";
    expect(problemsOf({ SPANWAY_PROD_KEY: key, SPANWAY_TEST_KEY: key })).toEqual([
      "SPANWAY_TEST_KEY must differ from SPANWAY_PROD_KEY",
    ]);
  });

  test("are the only effect of a bad value", () => {
    const prefixes = ["", "chdb:", "sqlite:", "https://", "postgres://", "redis://", "10.0.0.0/"];
    const value = fc.tuple(fc.constantFrom(...prefixes), fc.string()).map(([prefix, rest]) => prefix + rest);
    fc.assert(
      fc.property(fc.constantFrom(...table.map(({ name }) => name)), value, (name, text) => {
        const problems = problemsOf({ [name]: text });
        expect(problems.every((problem) => problem.startsWith(`${name} `))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("a misspelt variable is reported", () => {
    expect(readConfig({ SPANWAY_PROT: "1", SPANWAY_PORT: "1", OTHER: "x" }).unknownVariables).toEqual(["SPANWAY_PROT"]);
  });

  test("variables of our clients are not reported", () => {
    const env = { SPANWAY_URL: "x", SPANWAY_API_KEY: "x", SPANWAY_BASE_URL: "x", SPANWAY_HOOK_DEBUG: "true" };
    expect(readConfig(env).unknownVariables).toEqual([]);
  });
});

test("no secret shows when the configuration is printed", () => {
  const config = readConfig({
    SPANWAY_SECRET_KEY: "sesame-sesame-sesame",
    SPANWAY_PROD_KEY: "sesame-sesame-prod",
    SPANWAY_TEST_KEY: "sesame-sesame-test",
    SPANWAY_ADMIN_PASSWORD: "sesame-password",
    SPANWAY_SPANS_URL: "https://u:sesame@h/db",
    SPANWAY_CONTROL_URL: "postgres://u:sesame@h/db",
    SPANWAY_CACHE_URL: "redis://u:sesame@h",
    OPENAI_API_KEY: "sk-sesame",
  });
  expect(config.secretKey?.reveal()).toBe("sesame-sesame-sesame");
  const printed = [
    JSON.stringify(config),
    inspect(config, { depth: 10, showHidden: true, getters: true }),
    String(config.secretKey),
  ];
  for (const text of printed) {
    expect(text).not.toContain("sesame");
    expect(text).toContain("[redacted]");
  }
});

describe("docs/configuration.md", () => {
  const page = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`)? ?\| (.+) \|$/gm)];

  test("lists every variable once, and no other", () => {
    expect(rows.map(([, name = ""]) => name).sort()).toEqual(table.map(({ name }) => name).sort());
  });

  test("states the defaults", () => {
    const documented = Object.fromEntries(rows.map(([, name = "", fallback = ""]) => [name, fallback]));
    expect(documented).toEqual(Object.fromEntries(table.map(({ name, fallback }) => [name, fallback ?? ""])));
  });
});
