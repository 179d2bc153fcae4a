/**
 * Writes the same rows to a store several times concurrently, in opposite orders, as nodes may. Each round has its own rows. Returns the
 * errors, such as deadlocks.
 */
export async function inTwoOrders<T>(
  makeRows: (round: number) => T[],
  store: (rows: readonly T[]) => Promise<unknown>,
): Promise<unknown[]> {
  const refusals: unknown[] = [];
  for (let round = 0; round < 5; round += 1) {
    const rows = makeRows(round);
    const stored = await Promise.allSettled([store(rows), store(rows.toReversed()), store(rows)]);
    for (const result of stored) if (result.status === "rejected") refusals.push(result.reason);
  }
  return refusals;
}

/** More than fit into one statement. */
export const manyRows = 1_500;
