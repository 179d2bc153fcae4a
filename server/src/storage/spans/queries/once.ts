import type { SpanDatabase } from "../drivers/span-database.ts";
import type { TakeBytes } from "../span-export.ts";
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
  const looking = look(database, { parts, counts, isForResends: before !== undefined }, signal);
  // Counts may matter to one kind of read where they do not to another.
  const kind = `${String(parts[0]?.where.params["organization_id"])} ${counts}`;
  // Most organisations have neither, hour after hour: what they ask for is read while the look goes on.
  const isLikelyPlain = before !== undefined && resends?.wasPlain(kind) === true;
  const [found, ready] = await Promise.all([looking, isLikelyPlain ? read("", "none") : undefined]);
  if (before !== undefined) resends?.found(kind, { isPlain: found.size === 0 });
  const isPlain = () => before !== undefined && !found.has("resend") && resends?.state() === before;
  if (ready !== undefined && found.size === 0 && isPlain()) return ready;
  const known = found.has("counts") ? counts : "none";
  const result = isPlain() ? await read("", known) : undefined;
  return result !== undefined && isPlain() ? result : await read("FINAL", known);
}

/**
 * The same for a read that hands on what it finds, and so cannot be done again once something was handed on. The engine reads the parts
 * that there were when the statement began: what comes in after the first bytes changes nothing.
 */
export async function streamOnce(
  database: SpanDatabase,
  { parts, counts }: { parts: readonly CountedPart[]; counts: Counts },
  stream: (once: Once, counts: Counts, take: TakeBytes) => Promise<void>,
  take: TakeBytes,
  signal: AbortSignal,
): Promise<void> {
  const { resends } = database;
  const before = resends?.state();
  const found = await look(database, { parts, counts, isForResends: before !== undefined }, signal);
  const known = found.has("counts") ? counts : "none";
  if (before === undefined || found.has("resend")) return await stream("FINAL", known, take);
  const changed = new Error("rows came in that share a key with others");
  let isHandedOn = false;
  const takeOn: TakeBytes = (bytes) => {
    if (!isHandedOn && resends?.state() !== before) throw changed;
    isHandedOn = true;
    return take(bytes);
  };
  try {
    await stream("", known, takeOn);
  } catch (error) {
    if (error !== changed) throw error;
    await stream("FINAL", known, take);
  }
}

const lookForResends = ({ where }: CountedPart) =>
  `SELECT 'resend' AS look FROM spans WHERE ${where.sql} AND is_resend = 1 LIMIT 1`;

/** Rows of older versions can only make this look too careful, so it does without FINAL. */
const lookForCounts = ({ where }: CountedPart, counts: Counts) =>
  `SELECT 'counts' AS look FROM span_counts WHERE ${where.sql} AND is_deleted = 0${counts === "usage" ? " AND changes_usage = 1" : ""} LIMIT 1`;

/** Which of `resend` and `counts` the parts have. */
async function look(
  database: SpanDatabase,
  { parts, counts, isForResends }: { parts: readonly CountedPart[]; counts: Counts; isForResends: boolean },
  signal?: AbortSignal,
): Promise<ReadonlySet<unknown>> {
  const looks = parts.flatMap((part) => [
    ...(isForResends ? [lookForResends(part)] : []),
    ...(counts === "none" ? [] : [lookForCounts(part, counts)]),
  ]);
  if (looks.length === 0) return new Set();
  const sql = looks.map((each) => `(${each})`).join(" UNION ALL ");
  const { rows } = await database.query({ name: "look", sql, params: paramsOfParts(parts) }, signal);
  return new Set(rows.map((row) => row["look"]));
}
