import { randomInt } from "node:crypto";

const least = 100_000_000;
const most = 999_999_999;
const draws = 20;

/** Inserts under an integer id that says nothing of how many there are. `insert` answers undefined where the id is taken. */
export async function withDrawnId<T>(insert: (id: number) => Promise<T | undefined>): Promise<T | undefined> {
  for (let draw = 0; draw < draws; draw += 1) {
    const row = await insert(randomInt(least, most + 1));
    if (row !== undefined) return row;
  }
  return undefined;
}
