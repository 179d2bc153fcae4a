/**
 * Rows for `json_each(…)`, whose values are `value ->> 0`, `value ->> 1` … on SQLite and Postgres alike: one bound
 * value for any number of rows, so that the statement text never changes and stays prepared.
 */
export function jsonRows(rows: ReadonlyArray<ReadonlyArray<string | number | null>>): string {
  // An object, because `json_each` of Postgres does not take an array.
  return JSON.stringify(Object.fromEntries(rows.entries()));
}

/** A LIKE pattern that matches every text containing these words; special characters of LIKE match any character. */
export function likeText(words: string): string {
  return `%${words.replaceAll(/[%_\\]/g, "_")}%`;
}
