import type { SpanDatabase } from "../drivers/span-database.ts";
import type { StatementParams } from "../span-store.ts";
import { climb, lookForPairs, lookForParents, paramsOf, withoutRollUp, type Climb, type RollUp } from "./roll-up.ts";
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
 * `summed` are those whose usage it sums, filters apart; without them there is no roll-up. `rollUp` says whose usage
 * restates whose.
 */
export async function readOnce<T>(
  database: SpanDatabase,
  {
    all,
    summed,
    rollUp = climb,
  }: { all: readonly Where[]; summed?: readonly Where[] | undefined; rollUp?: Climb | undefined },
  read: (once: Once, usage: RollUp) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { resends } = database;
  const before = resends?.state();
  const looks = [
    ...(before === undefined ? [] : all.map(lookForResends)),
    ...(summed === undefined ? [] : [lookForParents(summed)]),
  ];
  const looking = seen(database, looks, paramsOf([...all, ...(summed ?? [])]), signal);
  const organization = String(all[0]?.params["organization_id"]);
  // Most organisations have neither, hour after hour: what they ask for is read while the look goes on.
  const isLikelyPlain = before !== undefined && resends?.wasPlain(organization) === true;
  const [found, ready] = await Promise.all([looking, isLikelyPlain ? read("", withoutRollUp) : undefined]);
  if (before !== undefined) resends?.found(organization, { isPlain: found.size === 0 });
  const isPlain = () => before !== undefined && !found.has("resend") && resends?.state() === before;
  if (ready !== undefined && found.size === 0 && isPlain()) return ready;

  const usage = async (once: Once): Promise<RollUp> => {
    if (summed === undefined || !found.has("parent")) return withoutRollUp;
    const paired = await seen(database, [lookForPairs(summed, once)], paramsOf(summed), signal);
    return rollUp(
      summed,
      once,
      [...paired].map((key) => BigInt(String(key))),
    );
  };
  const result = isPlain() ? await read("", await usage("")) : undefined;
  return result !== undefined && isPlain() ? result : await read("FINAL", await usage("FINAL"));
}

const lookForResends = ({ sql }: Where) => `SELECT 'resend' AS look FROM spans WHERE ${sql} AND is_resend = 1 LIMIT 1`;

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
