import { storageLimits } from "../../limits.ts";
import type { LookedFor } from "../drivers/resend-watch.ts";
import { lookedFor } from "../drivers/resend-watch.ts";
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
  const look = planLook(database, { parts, counts });
  const [found, ready] = await Promise.all([look.run(signal), look.isLikelyPlain ? read("", "none") : undefined]);
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
  const found = await planLook(database, { parts, counts }).run(signal);
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

/** Where a part has what is looked for. */
const lookIn: Record<LookedFor, (part: CountedPart, counts: Counts) => string> = {
  resend: ({ where }) => `spans WHERE ${where.sql} AND is_resend = 1`,
  // Rows of older versions can only make this look too careful, so it does without FINAL.
  counts: ({ where }, counts) =>
    `span_counts WHERE ${where.sql} AND is_deleted = 0${counts === "usage" ? " AND changes_usage = 1" : ""}`,
};

/** Where an organization has it, whatever the window. */
const lookEverywhere: Record<LookedFor, string> = {
  resend: "spans WHERE organization_id = {organization_id:String} AND is_resend = 1",
  counts: "span_counts WHERE organization_id = {organization_id:String}",
};

type LookPlan = { isLikelyPlain: boolean; run: (signal?: AbortSignal) => Promise<ReadonlySet<LookedFor>> };

/**
 * Which of `resend` and `counts` the parts have. What an organization has nowhere is not looked for again before some comes in. Windows
 * that follow one with counts mostly have some too: the next reads take it that they do.
 */
function planLook(
  database: SpanDatabase,
  { parts, counts }: { parts: readonly CountedPart[]; counts: Counts },
): LookPlan {
  const { resends } = database;
  const watches = { resend: resends, counts: database.counts };
  const states = { resend: resends?.state(), counts: database.counts?.state() };
  const organization = String(parts[0]?.where.params["organization_id"]);
  // Counts may matter to one kind of read where they do not to another.
  const kind = `${organization} ${counts}`;
  const last = resends?.lastLook(kind);
  const asked = lookedFor.filter((name) => {
    const matters = name === "resend" ? states.resend !== undefined : counts !== "none";
    return matters && watches[name]?.hasNone(organization) !== true;
  });
  const isAssumed =
    asked.includes("counts") && last?.found.has("counts") === true && last.reads < storageLimits.assumedLooks;
  const sought = isAssumed ? asked.filter((name) => name !== "counts") : asked;
  // Worth it where nothing has come in since the last look.
  const soughtEverywhere = sought.filter(
    (name) => states[name] !== undefined && last?.states[name] === states[name] && !last?.elsewhere.has(name),
  );
  const run = async (signal?: AbortSignal): Promise<ReadonlySet<LookedFor>> => {
    const met = await lookFor(database, { parts, counts, sought, soughtEverywhere }, signal);
    const [elsewhere, nowhere] = [new Set(last?.elsewhere), new Set<LookedFor>()];
    for (const name of soughtEverywhere) (met.has(`${name} everywhere`) ? elsewhere : nowhere).add(name);
    for (const name of nowhere) {
      if (watches[name]?.state() === states[name]) watches[name]?.foundNone(organization);
    }
    const found = new Set(lookedFor.filter((name) => met.has(name) || (isAssumed && name === "counts")));
    if (asked.length > 0) resends?.looked(kind, { states, found, elsewhere, reads: isAssumed ? last.reads + 1 : 0 });
    return found;
  };
  // Most organisations have neither, hour after hour: what they ask for is read while the look goes on.
  return { isLikelyPlain: states.resend !== undefined && sought.length > 0 && last?.found.size === 0, run };
}

async function lookFor(
  database: SpanDatabase,
  what: {
    parts: readonly CountedPart[];
    counts: Counts;
    sought: readonly LookedFor[];
    soughtEverywhere: readonly LookedFor[];
  },
  signal?: AbortSignal,
): Promise<ReadonlySet<unknown>> {
  const { parts, counts, sought, soughtEverywhere } = what;
  const selects = [
    ...parts.flatMap((part) => sought.map((name) => `SELECT '${name}' AS look FROM ${lookIn[name](part, counts)}`)),
    ...soughtEverywhere.map((name) => `SELECT '${name} everywhere' AS look FROM ${lookEverywhere[name]}`),
  ];
  if (selects.length === 0) return new Set();
  const sql = selects.map((select) => `(${select} LIMIT 1)`).join(" UNION ALL ");
  const { rows } = await database.query({ name: "look", sql, params: paramsOfParts(parts) }, signal);
  return new Set(rows.map((row) => row["look"]));
}
