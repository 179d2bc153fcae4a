import { randomInt } from "node:crypto";

const least = 100_000_000;
const most = 999_999_999;
const draws = 20;

/**
 * Inserts under a random integer id, which does not reveal the number of rows. `insert` returns undefined if the id is
 * taken.
 */
export async function withDrawnId<T>(insert: (id: number) => Promise<T | undefined>): Promise<T | undefined> {
  for (let draw = 0; draw < draws; draw += 1) {
    const row = await insert(randomInt(least, most + 1));
    if (row !== undefined) return row;
  }
  return undefined;
}
