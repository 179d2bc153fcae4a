import { filterLimits } from "../filter/limits.ts";

/** The maximum number of fields to group by. */
const maxKeys = 2;

/** A `group_by` parameter: how it is read, and what the API reference says of it. */
export type GroupBy = {
  /** The names in the parameter, or an error message. */
  read(text: string): { names: string[] } | { message: string };
  description: string;
  examples: string[];
};

/** One or two of these fields and of the keys of metadata. */
export function groupByOf(fields: readonly string[], pair: string): GroupBy {
  const known: ReadonlySet<string> = new Set(fields);
  const choices = `${fields.join(", ")} or metadata__<key>`;
  return {
    read(text) {
      const names = text.split(",").map((name) => name.trim());
      if (names.length > maxKeys) return { message: `group_by takes at most ${maxKeys} names` };
      if (new Set(names).size < names.length) return { message: "group_by names the same twice" };
      return names.every((name) => known.has(name) || isMetadataKey(name))
        ? { names }
        : { message: `group_by must be one of ${choices}, or two of them separated by a comma` };
    },
    description: `One or two of ${choices}, separated by commas.`,
    examples: [...fields, pair],
  };
}

/** Whether a name is `metadata__<key>`. Keys that begin with `_` are reserved and not shown. */
export function isMetadataKey(name: string): boolean {
  const key = /^metadata__(.+)$/s.exec(name)?.[1];
  return key !== undefined && !key.startsWith("_") && key.length <= filterLimits.metadataKeyChars;
}
