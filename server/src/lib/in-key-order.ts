/**
 * Sorts the rows of a statement that inserts or changes several by their unique key. Postgres locks the rows of a statement
 * in the order in which it lists them: of two nodes with the same rows in different orders, one would be refused
 * (deadlock), and repeat its work later.
 */
export function inKeyOrder<T>(rows: readonly T[], keyOf: (row: T) => ReadonlyArray<string | number>): T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  return keyed.sort((one, other) => compareKeys(one.key, other.key)).map(({ row }) => row);
}

function compareKeys(one: ReadonlyArray<string | number>, other: ReadonlyArray<string | number>): number {
  for (const [index, a] of one.entries()) {
    const b = other[index];
    if (b === undefined || a === b) continue;
    return a < b ? -1 : 1;
  }
  return 0;
}
