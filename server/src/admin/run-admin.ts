import { ServiceError } from "../domain/errors.ts";
import {
  parseOptions,
  UsageError,
  type AdminContext,
  type AdminResult,
  type Cell,
  type Command,
  type FolderContext,
  type Options,
  type StoreCommand,
} from "./command.ts";
import {
  backupCommands,
  journalCommands,
  quarantineCommands,
  usageCommands,
  secretKeyCommands,
} from "./stored-data-commands.ts";
import { keyCommands } from "./key-commands.ts";
import { memberCommands } from "./member-commands.ts";
import { organizationCommands } from "./organization-commands.ts";
import { priceCommands } from "./price-commands.ts";
import { priceTableCommands } from "./price-table-commands.ts";
import { userCommands } from "./user-commands.ts";

const commands: readonly Command[] = [
  ...organizationCommands,
  ...keyCommands,
  ...userCommands,
  ...memberCommands,
  ...quarantineCommands,
  ...usageCommands,
  ...priceCommands,
  ...priceTableCommands,
  ...secretKeyCommands,
  ...backupCommands,
  ...journalCommands,
];
const indent = " ".repeat(2);

/** The output, and the exit code: 0 done, 1 refused, 2 invalid command line. */
export type AdminOutcome = { code: 0 | 1 | 2; stdout: string; stderr: string };

/**
 * Runs one command line. `open` and `openFolder` are called only for a command that needs them; what `open` opens is
 * closed in any case. Throws errors other than usage errors and refusals.
 */
export async function runAdmin(
  args: readonly string[],
  open: () => Promise<{ context: AdminContext; close: () => Promise<void> }>,
  openFolder: () => FolderContext = noFolder,
): Promise<AdminOutcome> {
  const json = args.includes("--json");
  const words = args.filter((arg) => arg !== "--json");
  const command = commands.find(({ name, alias = name }) => [name, alias].some((typed) => isTyped(typed, words)));
  if (words.length === 0 || words.includes("--help") || words.includes("-h")) {
    return { code: 0, stdout: command === undefined ? overview(words[0]) : usageOf(command), stderr: "" };
  }
  if (command === undefined) {
    return failed(2, `There is no command "${words.slice(0, 2).join(" ")}".\n\n${overview()}`);
  }
  try {
    const typed = isTyped(command.name, words) ? command.name.split(" ").length : 1;
    const options = parseOptions(command, words.slice(typed));
    const result =
      "run" in command ? await runOnStores(command, options, open) : await command.runOnFolder(openFolder(), options);
    const stdout = json && typeof result !== "string" ? JSON.stringify(result, undefined, 2) : format(result);
    return { code: 0, stdout, stderr: "" };
  } catch (error) {
    if (error instanceof ServiceError) return failed(1, error.message);
    if (error instanceof UsageError) return failed(2, `${error.message}\n\n${usageOf(command)}`);
    throw error;
  }
}

async function runOnStores(
  command: StoreCommand,
  options: Options,
  open: () => Promise<{ context: AdminContext; close: () => Promise<void> }>,
): Promise<AdminResult> {
  const { context, close } = await open();
  try {
    return await command.run(context, options);
  } finally {
    await close();
  }
}

const noFolder = (): never => {
  throw new Error("this command needs the folder of a node");
};

const isTyped = (name: string, words: readonly string[]): boolean =>
  name.split(" ").every((word, index) => words[index] === word);

function failed(code: 1 | 2, stderr: string): AdminOutcome {
  return { code, stdout: "", stderr };
}

/** The commands of one kind, such as `users`, if there are any; else all. */
function overview(kind?: string): string {
  const ofKind = commands.filter(({ name }) => name.startsWith(`${kind ?? ""} `));
  const rows = (ofKind.length > 0 ? ofKind : commands).map(({ name, summary }) => [name, summary]);
  return [
    "Creates and changes organizations, users and keys without HTTP, in the store that SPANWAY_CONTROL_URL names; shows what",
    "the journal of this node quarantined; recomputes what spans count for; sets model prices and loads price files; backs up",
    "and restores the data folder.",
    "",
    "Usage: npm run admin -- COMMAND [--json]",
    "",
    ...align(rows),
    "",
    "npm run admin -- COMMAND --help shows a command's options.",
  ].join("\n");
}

function usageOf({ name, summary, options, argument }: Command): string {
  const rows = Object.entries(options).map(([option, { value, description, required }]) => [
    `--${option}${value === undefined ? "" : ` ${value}`}`,
    required === true ? `${description} (required)` : description,
  ]);
  const words = argument === undefined ? name : `${name} ${argument.name}`;
  const first = argument === undefined ? [] : [[argument.name, argument.description]];
  const json = ["--json", "print JSON"];
  return [
    `Usage: npm run admin -- ${words} [options]`,
    "",
    `${indent}${summary}`,
    "",
    ...align([...first, ...rows, json]),
  ].join("\n");
}

/** Formats a list as a table, one record as lines. */
function format(result: AdminResult): string {
  if (typeof result === "string") return result;
  if (!Array.isArray(result)) {
    return align(Object.entries(result).map(([name, value]) => [name, cell(value)])).join("\n");
  }
  const columns = Object.keys(result[0] ?? {});
  if (columns.length === 0) return "None.";
  return align([columns, ...result.map((row) => columns.map((column) => cell(row[column])))]).join("\n");
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "object" ? value.join(",") : String(value);
}

function align(rows: string[][]): string[] {
  const widths = rows.reduce<number[]>((max, row) => row.map((text, at) => Math.max(max[at] ?? 0, text.length)), []);
  return rows.map(
    (row) =>
      indent +
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join(indent)
        .trimEnd(),
  );
}
