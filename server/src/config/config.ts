import { join, resolve } from "node:path";
import { BadValue } from "./parse.ts";
import {
  clientVariables,
  dataDirToken,
  providerFields,
  providers,
  providerVariables,
  variables,
  type ProviderName,
  type Variable,
} from "./variables.ts";
import type { Secret } from "../lib/secret.ts";

type Table = typeof variables;
type Settings = {
  readonly [K in keyof Table]: ReturnType<Table[K]["parse"]> | (Table[K]["fallback"] extends null ? undefined : never);
};

/** Credentials of one provider; members that the environment does not set are undefined. */
type ProviderConfig = {
  readonly apiKey: Secret | undefined;
  readonly baseUrl: string | undefined;
  /** What some providers need besides a key, by the member of a credential: region, api_version … */
  readonly fields: Readonly<Record<string, Secret>>;
};

/** The server's settings. Paths are absolute; secrets are wrapped, so that the whole object may be logged. */
export type Config = Settings & {
  readonly journalPath: string;
  readonly secretKeyPath: string;
  /** The level of requests that succeed. On a terminal they would scroll away what the first start shows once. */
  readonly requestLevel: "info" | "debug";
  readonly providers: Readonly<Record<ProviderName, ProviderConfig>>;
  /**
   * Variables that begin with SPANWAY_ and that neither the server nor our clients read: probably misspelt, so they are
   * logged as warnings.
   */
  readonly unknownVariables: readonly string[];
};

/** All problems of the environment, one per line, each naming its variable and none repeating a secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings; an empty variable counts as absent. Throws `ConfigError`.
 * Called by main.ts and admin.ts with the process's environment, by tests with their own.
 */
export function readConfig(
  env: EnvironmentVariables = process.env,
  isTerminal: boolean = process.stdout.isTTY,
): Config {
  const problems: string[] = [];
  const dataDir = resolve(env[variables.dataDir.name] || variables.dataDir.fallback);

  const read = <T>({ name, parse, fallback }: Variable<T>): T | undefined => {
    const value = env[name] || fallback?.replace(dataDirToken, () => dataDir);
    if (value === undefined) return undefined;
    try {
      return parse(value);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      problems.push(`${name} ${error.message}`);
      return undefined;
    }
  };

  const settings = Object.fromEntries(
    Object.entries<Variable<unknown>>(variables).map(([key, variable]) => [key, read(variable)]),
  );
  const providerConfigs = mapValues(providers, (prefix, name): ProviderConfig => {
    const { apiKey, baseUrl } = providerVariables(prefix);
    const fields = Object.entries(providerFields[name] ?? {}).flatMap(([member, variable]) => {
      const value = read(variable);
      return value === undefined ? [] : [[member, value] as const];
    });
    return { apiKey: read(apiKey), baseUrl: read(baseUrl), fields: Object.fromEntries(fields) };
  });
  const { prodKey, testKey } = asSettings(settings);
  if (prodKey !== undefined && prodKey.reveal() === testKey?.reveal()) {
    problems.push(`${variables.testKey.name} must differ from ${variables.prodKey.name}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);

  return {
    ...asSettings(settings),
    dataDir,
    journalPath: join(dataDir, "journal"),
    secretKeyPath: join(dataDir, "secret.key"),
    requestLevel: isTerminal ? "debug" : "info",
    providers: providerConfigs,
    unknownVariables: unknownVariables(env),
  };
}

/** The process's environment with changed settings, for a server that a command starts. */
export function environmentWith(changed: EnvironmentVariables): EnvironmentVariables {
  return { ...process.env, ...changed };
}

function unknownVariables(env: EnvironmentVariables): string[] {
  const known = new Set([...Object.values<Variable<unknown>>(variables).map(({ name }) => name), ...clientVariables]);
  return Object.keys(env)
    .filter((name) => name.startsWith("SPANWAY_") && !known.has(name))
    .sort();
}

/** Safe because every key of the table was read with its own parser and no parser failed. */
function asSettings(settings: Record<string, unknown>): Settings {
  return settings as Settings;
}

/** Safe because the entries have exactly the keys of `record`. */
function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, map: (value: V, key: K) => R): Record<K, R> {
  const entries = Object.entries<V>(record) as [K, V][];
  return Object.fromEntries(entries.map(([key, value]) => [key, map(value, key)])) as Record<K, R>;
}
