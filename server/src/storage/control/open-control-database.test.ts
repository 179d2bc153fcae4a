import { sql } from "kysely";
import { expect, test } from "vitest";
import { openControlDatabase } from "./open-control-database.ts";

test("SQLite flushes every commit but those of unflushed work, also after one that failed", async () => {
  const database = openControlDatabase({ kind: "sqlite", path: ":memory:" });
  const flushing = async (queries = database.queries) => {
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(queries);
    return rows[0]?.synchronous;
  };
  const [normal, full] = [1, 2];
  for (let round = 0; round < 2; round += 1) {
    expect(await flushing()).toBe(full);
    expect(await database.unflushed((queries) => flushing(queries))).toBe(normal);
    expect(await database.transaction((queries) => flushing(queries))).toBe(full);
    await expect(database.unflushed(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  }
  await database.close();
});
