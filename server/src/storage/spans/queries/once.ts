import type { SpanDatabase } from "../drivers/span-database.ts";
import type { StatementParams } from "../span-store.ts";
import { paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";

/**
 * How a statement sees each span once: `FINAL` merges the rows of one key while it reads, at up to the cost of the read
 * itself. Where no row of the selections may share its key with another, plain rows are the same.
 */
export type Once = "FINAL" | "";

/**
 * Reads plainly where that is known to be the same, and says `FINAL` elsewhere.
 *
 * `parts` are the spans that the read looks at, without regard to their filters: what a filter hides may still replace
 * what it shows. `counts` says what the read has to know of what they count for; where no span of the parts counts for
 * anything but what it says, the read is told `none`.
 */
export async function readOnce<T>(
  database: SpanDatabase,
  { parts, counts = "none" }: { parts: readonly CountedPart[]; counts?: Counts | undefined },
  read: (once: Once, counts: Counts) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { resends } = database;
  const before = resends?.state();
  const looks = parts.flatMap((part) => [
    ...(before === undefined ? [] : [lookForResends(part)]),
    ...(counts === "none" ? [] : [lookForCounts(part, counts)]),
  ]);
  const looking = seen(database, looks, paramsOfParts(parts), signal);
  const organization = String(parts[0]?.where.params["organization_id"]);
  // Most organisations have neither, hour after hour: what they ask for is read while the look goes on.
  const isLikelyPlain = before !== undefined && resends?.wasPlain(organization) === true;
  const [found, ready] = await Promise.all([looking, isLikelyPlain ? read("", "none") : undefined]);
  if (before !== undefined) resends?.found(organization, { isPlain: found.size === 0 });
  const isPlain = () => before !== undefined && !found.has("resend") && resends?.state() === before;
  if (ready !== undefined && found.size === 0 && isPlain()) return ready;
  const known = found.has("counts") ? counts : "none";
  const result = isPlain() ? await read("", known) : undefined;
  return result !== undefined && isPlain() ? result : await read("FINAL", known);
}

const lookForResends = ({ where }: CountedPart) =>
  `SELECT 'resend' AS look FROM spans WHERE ${where.sql} AND is_resend = 1 LIMIT 1`;

/** Rows of older versions can only make this look too careful, so it does without FINAL. */
const lookForCounts = ({ where }: CountedPart, counts: Counts) =>
  `SELECT 'counts' AS look FROM span_counts WHERE ${where.sql} AND is_deleted = 0${counts === "usage" ? " AND changes_usage = 1" : ""} LIMIT 1`;

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
