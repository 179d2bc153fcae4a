import { pathSeparator } from "../../../filter/metadata-index.ts";
import type { StatementParams } from "../span-store.ts";
import type { SeriesKey } from "../span-series.ts";
import type { ResultRow } from "../drivers/span-database.ts";

/** How spans are grouped. */
export type GroupKeys = {
  /** `expression AS alias` for each value of the key of a group. */
  select: string[];
  /** Their aliases. */
  names: string[];
  /**
   * A text that identifies a group, over the columns of spans; `textOfNames` is the same over `names`, once for each
   * group.
   */
  text: string;
  textOfNames: string;
  /** Selects the spans that belong to any group. */
  where: string;
  params: StatementParams;
  /** Whether the groups depend on whom spans count for. */
  isByIdentity: boolean;
  /** The values of a row of `select`, by the requested names. */
  valuesOf(row: ResultRow): Record<string, string | number | null>;
};

/** A value of the key of a group. */
export type Key = { name: string; sql: string; where?: string; params?: StatementParams };

/**
 * The text of a key of metadata, as filters read it: as a path only if there is no such key. The names of the bound
 * parameters begin with `prefix`.
 */
export function metadataValue(key: string, prefix: string): { sql: string; params: StatementParams } {
  const [literal, path] = [`${prefix}_key`, `${prefix}_path`];
  const params = { [literal]: key, [path]: key.split("__").join(pathSeparator) };
  const sql = `if(mapContains(metadata_index, {${literal}:String}), metadata_index[{${literal}:String}], metadata_index[{${path}:String}])`;
  return { sql: key.includes("__") ? sql : `metadata_index[{${literal}:String}]`, params };
}

/** Traces and threads are identified by environment too; spans without one are in no group. */
function keysOf(groupBy: SeriesKey, index: number): Key[] {
  const environment = { name: "environment", sql: "environment" };
  if (groupBy === "trace") {
    return [{ name: "trace_unique_id", sql: "trace_unique_id", where: "trace_unique_id != ''" }, environment];
  }
  if (groupBy === "thread") {
    return [{ name: "thread_identifier", sql: "thread_identifier", where: "thread_identifier != ''" }, environment];
  }
  return [metadataKey(groupBy, index) ?? { name: groupBy, sql: groupBy }];
}

/** The key for `metadata__<key>`; undefined for other names. */
export function metadataKey(groupBy: SeriesKey, index: number): Key | undefined {
  if (!groupBy.startsWith("metadata__")) return undefined;
  return { name: groupBy, ...metadataValue(groupBy.slice("metadata__".length), `group_${index}`) };
}

/** @param search only groups with this text in a value, ignoring case */
export function groupKeys(groupBy: readonly SeriesKey[], search = ""): GroupKeys {
  return keysFrom(
    groupBy.flatMap(keysOf),
    search,
    groupBy.some((key) => key === "customer_identifier" || key === "thread"),
  );
}

export function keysFrom(all: readonly Key[], search = "", isByIdentity = false): GroupKeys {
  const keys = all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
  // An alias hides the column of its name, also from the expressions beside it.
  const names = keys.map((_, index) => `group_${index}`);
  const textOf = (sqls: readonly string[]): string => {
    const texts = sqls.map((sql) => `ifNull(toString(${sql}), '')`);
    return texts.length === 1 ? (texts[0] ?? "''") : `toString([${texts.join(", ")}])`;
  };
  const found = keys.map(({ sql }) => `positionCaseInsensitiveUTF8(${textOf([sql])}, {group_search:String}) > 0`);
  return {
    select: keys.map(({ sql }, index) => `${sql} AS ${names[index]}`),
    names,
    text: textOf(keys.map(({ sql }) => sql)),
    textOfNames: textOf(names),
    where:
      [...keys.flatMap(({ where = [] }) => where), ...(search === "" ? [] : [`(${found.join(" OR ")})`])].join(
        " AND ",
      ) || "1",
    params: Object.assign({ group_search: search }, ...keys.map(({ params }) => params)) as StatementParams,
    isByIdentity,
    valuesOf: (row) =>
      Object.fromEntries(keys.map(({ name }, index) => [name, keyValue(row[names[index] ?? ""], name)])),
  };
}

function keyValue(value: unknown, name: string): string | number | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  return name === "status_code" ? Number(value) : value;
}
