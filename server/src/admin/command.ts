import { parseArgs } from "node:util";
import { BadValue } from "../config/parse.ts";
import type { RecomputeUsage } from "../counting/recompute.ts";
import type { Passwords } from "../auth/passwords.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { BackupNote } from "../storage/backup/back-up-node.ts";
import type { CopiedTable } from "../storage/transfer/copy-spans.ts";
import type { Drained } from "./drain-node.ts";
import type { ListUnpriced } from "../counting/unpriced-models.ts";
import type { WithQuarantine } from "../storage/journal/quarantine.ts";

export type Option = {
  /** Placeholder of the value in the help; absent for a flag. */
  value?: string;
  description: string;
  required?: boolean;
};

export type AdminContext = {
  stores: ControlStores;
  passwords: Pick<Passwords, "hash">;
  nowMs: () => number;
  withQuarantine: WithQuarantine;
  recomputeUsage: RecomputeUsage;
  listUnpriced: ListUnpriced;
  /** Makes the secret key of this environment that of the control store. */
  acceptSecretKey: () => Promise<void>;
};

export type Cell = string | number | boolean | null | undefined | readonly string[];

/** The output of a command: one row or several; text is printed unchanged. */
export type AdminResult = Record<string, Cell> | Record<string, Cell>[] | string;

/** Operations on the files of a node, without the control store. */
export type FolderContext = {
  backUp: (to: string) => Promise<BackupNote>;
  restore: (from: string) => BackupNote;
  /** Hands the accepted spans of a stopped node to the node of this environment. */
  exportJournal: (folder: string) => Promise<{ entries: number }>;
  /** Runs a server on the folder until all its accepted spans are stored and dispatched. */
  drain: (folder: string) => Promise<Drained>;
  copyToServers: (folder: string) => Promise<CopiedTable[]>;
};

export type Command = StoreCommand | FolderCommand;
export type StoreCommand = CommandShape & { run: (context: AdminContext, options: Options) => Promise<AdminResult> };
type FolderCommand = CommandShape & {
  runOnFolder: (folder: FolderContext, options: Options) => AdminResult | Promise<AdminResult>;
};

type CommandShape = {
  /** One or two words, as typed. */
  name: string;
  /** A single word that may be typed instead. */
  alias?: string;
  summary: string;
  options: Readonly<Record<string, Option>>;
  /** A required positional argument. */
  argument?: { name: string; description: string };
};

/** The command line is invalid; the message says why. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** A command's options as typed. Only names that the command declares may be read. */
export class Options {
  readonly #values: Readonly<Record<string, string | boolean | undefined>>;

  constructor(values: Readonly<Record<string, string | boolean | undefined>>) {
    this.#values = values;
  }

  /** The value of a required option. */
  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new UsageError(`--${name} is missing`);
    return value;
  }

  optional(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** A value parsed by `parse`. @throws UsageError that names the option */
  read<T>(name: string, parse: (text: string) => T): T {
    try {
      return parse(this.text(name));
    } catch (error) {
      throw error instanceof BadValue ? new UsageError(`--${name} ${error.message}`) : error;
    }
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  oneOf<const T extends string>(name: string, choices: readonly T[], fallback?: T): T {
    const value = this.optional(name) ?? fallback ?? this.text(name);
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new UsageError(`--${name} must be one of ${choices.join(", ")}`);
    return choice;
  }
}

/**
 * Parses the arguments after the command's name. Throws `UsageError` that names an unknown or missing argument, or one
 * without its value.
 */
export function parseOptions(command: Command, args: readonly string[]): Options {
  const shapes = Object.entries(command.options).map(
    ([name, { value }]) => [name, { type: value === undefined ? "boolean" : "string" }] as const,
  );
  const { values: parsed, positionals } = parseStrictly(args, Object.fromEntries(shapes));
  const expected = command.argument === undefined ? 0 : 1;
  if (positionals.length > expected) throw new UsageError(`${positionals[expected] ?? ""} is one word too many`);
  for (const [name, { required }] of Object.entries(command.options)) {
    const value = parsed[name];
    if (value === "" || (value === undefined && required === true)) throw new UsageError(`--${name} is missing`);
  }
  if (command.argument === undefined) return new Options(parsed);
  const { name } = command.argument;
  if (positionals[0] === undefined) throw new UsageError(`${name} is missing`);
  return new Options({ ...parsed, [name]: positionals[0] });
}

function parseStrictly(args: readonly string[], options: Record<string, { type: "boolean" | "string" }>) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
