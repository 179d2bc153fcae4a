/**
 * Rows for `json_each(…)`, whose `value ->> 0`, `value ->> 1` … are their values, on SQLite and Postgres alike: as one bound
 * value, however many they are, so that the statement is always the same and stays prepared.
 */
export function jsonRows(rows: ReadonlyArray<ReadonlyArray<string | number | null>>): string {
  // Of an object, because Postgres has `json_each` for no array.
  return JSON.stringify(Object.fromEntries(rows.entries()));
}

/** A pattern of LIKE that every text matches which holds these words; signs that mean something to it stand for any character. */
export function likeText(words: string): string {
  return `%${words.replaceAll(/[%_\\]/g, "_")}%`;
}
