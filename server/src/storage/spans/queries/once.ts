import type { SpanDatabase } from "../drivers/span-database.ts";
import type { StatementParams } from "../span-store.ts";
import { climb, lookForParents, paramsOf, withoutRollUp, type RollUp } from "./roll-up.ts";
import type { Where } from "./selection.ts";

/**
 * How a statement sees each span once: `FINAL` merges the rows of one key while it reads, at up to the cost of the read
 * itself. Where no row of the selections may share its key with another, plain rows are the same.
 */
export type Once = "FINAL" | "";

/**
 * Reads plainly where that is known to be the same, and says `FINAL` elsewhere.
 *
 * `all` are the spans that the read looks at, filters apart: what a filter hides may still replace what it shows.
 * `summed` are those whose usage it sums, filters apart; without them there is no roll-up.
 */
export async function readOnce<T>(
  database: SpanDatabase,
  { all, summed }: { all: Where; summed?: Where },
  read: (once: Once, usage: RollUp) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const before = database.resends?.state();
  const looks = [
    ...(before === undefined ? [] : [`SELECT 'resend' AS look FROM spans WHERE ${all.sql} AND is_resend = 1 LIMIT 1`]),
    ...(summed === undefined ? [] : [lookForParents([summed])]),
  ];
  const found = await seen(database, looks, paramsOf(summed === undefined ? [all] : [all, summed]), signal);
  const readAs = async (once: Once) =>
    await read(once, summed !== undefined && found.has("parent") ? climb([summed], once) : withoutRollUp);
  if (before === undefined || found.has("resend")) return await readAs("FINAL");
  const result = await readAs("");
  return database.resends?.state() === before ? result : await readAs("FINAL");
}

async function seen(
  database: SpanDatabase,
  looks: readonly string[],
  params: StatementParams,
  signal?: AbortSignal,
): Promise<ReadonlySet<unknown>> {
  if (looks.length === 0) return new Set();
  const sql = looks.map((look) => `(${look})`).join(" UNION ALL ");
  const { rows } = await database.query({ name: "look", sql, params }, signal);
  return new Set(rows.map((row) => row["look"]));
}
