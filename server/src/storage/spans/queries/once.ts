import { storageLimits } from "../../limits.ts";
import { probeKinds, type ProbeKind } from "../drivers/write-watches.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { WriteBytes } from "../span-export.ts";
import { paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";

/**
 * How a statement reads each span once: `FINAL` merges the rows of one key while it reads, which may cost as much as
 * the read itself. If no row of the selections can share its key with another, a plain read gives the same.
 */
export type Once = "FINAL" | "";

/**
 * Reads without FINAL if that is known to give the same result, else with it.
 *
 * `parts`: the spans that are read, regardless of their filters, because a row that a filter hides may replace one that
 * it shows. `counts`: what the read has to know of counts; `read` gets `none` if no span of the parts has a count.
 */
export async function readOnce<T>(
  database: SpanDatabase,
  { parts, counts = "none" }: { parts: readonly CountedPart[]; counts?: Counts | undefined },
  read: (once: Once, counts: Counts) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { resends } = database;
  const before = resends?.state();
  const probe = planProbe(database, { parts, counts });
  const [found, ready] = await Promise.all([probe.run(signal), probe.isLikelyPlain ? read("", "none") : undefined]);
  const isPlain = () => before !== undefined && !found.has("resend") && resends?.state() === before;
  if (ready !== undefined && found.size === 0 && isPlain()) return ready;
  const known = found.has("counts") ? counts : "none";
  const result = isPlain() ? await read("", known) : undefined;
  return result !== undefined && isPlain() ? result : await read("FINAL", known);
}

/**
 * The same for a read that streams its result and so cannot be repeated after the first bytes. The engine reads the
 * parts that existed when the statement began, so rows that come in after the first bytes change nothing.
 */
export async function streamOnce(
  database: SpanDatabase,
  { parts, counts }: { parts: readonly CountedPart[]; counts: Counts },
  stream: (once: Once, counts: Counts, take: WriteBytes) => Promise<void>,
  take: WriteBytes,
  signal: AbortSignal,
): Promise<void> {
  const { resends } = database;
  const before = resends?.state();
  const found = await planProbe(database, { parts, counts }).run(signal);
  const known = found.has("counts") ? counts : "none";
  if (before === undefined || found.has("resend")) return await stream("FINAL", known, take);
  const changed = new Error("rows came in that share a key with others");
  let isHandedOn = false;
  const writeBytes: WriteBytes = (bytes) => {
    if (!isHandedOn && resends?.state() !== before) throw changed;
    isHandedOn = true;
    return take(bytes);
  };
  try {
    await stream("", known, writeBytes);
  } catch (error) {
    if (error !== changed) throw error;
    await stream("FINAL", known, take);
  }
}

/** Where to probe within a part. */
const probeSql: Record<ProbeKind, (part: CountedPart, counts: Counts) => string> = {
  resend: ({ where }) => `spans WHERE ${where.sql} AND is_resend = 1`,
  // Rows of older versions can only make this probe too cautious, so it needs no FINAL.
  counts: ({ where }, counts) =>
    `span_counts WHERE ${where.sql} AND is_deleted = 0${counts === "usage" ? " AND changes_usage = 1" : ""}`,
};

/** Where to probe within an organization, in any window. */
const probeEverywhereSql: Record<ProbeKind, string> = {
  resend: "spans WHERE organization_id = {organization_id:String} AND is_resend = 1",
  counts: "span_counts WHERE organization_id = {organization_id:String}",
};

type ProbePlan = { isLikelyPlain: boolean; run: (signal?: AbortSignal) => Promise<ReadonlySet<ProbeKind>> };

/**
 * Plans the probe for resends and counts in the parts. What an organization has nowhere is not probed for again until
 * some comes in. Windows that follow one with counts usually have some too, so the next reads assume it.
 */
function planProbe(
  database: SpanDatabase,
  { parts, counts }: { parts: readonly CountedPart[]; counts: Counts },
): ProbePlan {
  const { resends } = database;
  const watches = { resend: resends, counts: database.counts };
  const states = { resend: resends?.state(), counts: database.counts?.state() };
  const organization = String(parts[0]?.where.params["organization_id"]);
  // Counts may matter to one kind of read and not to another.
  const kind = `${organization} ${counts}`;
  const last = resends?.lastProbe(kind);
  const required = probeKinds.filter((name) => {
    const matters = name === "resend" ? states.resend !== undefined : counts !== "none";
    return matters && watches[name]?.hasNone(organization) !== true;
  });
  const isAssumed =
    required.includes("counts") && last?.found.has("counts") === true && last.reads < storageLimits.assumedProbes;
  const wanted = isAssumed ? required.filter((name) => name !== "counts") : required;
  // Only worth it if nothing came in since the last probe.
  const wantedEverywhere = wanted.filter(
    (name) => states[name] !== undefined && last?.states[name] === states[name] && !last?.elsewhere.has(name),
  );
  const run = async (signal?: AbortSignal): Promise<ReadonlySet<ProbeKind>> => {
    const met = await runProbe(database, { parts, counts, wanted, wantedEverywhere }, signal);
    const [elsewhere, nowhere] = [new Set(last?.elsewhere), new Set<ProbeKind>()];
    for (const name of wantedEverywhere) (met.has(`${name} everywhere`) ? elsewhere : nowhere).add(name);
    for (const name of nowhere) {
      if (watches[name]?.state() === states[name]) watches[name]?.foundNone(organization);
    }
    const found = new Set(probeKinds.filter((name) => met.has(name) || (isAssumed && name === "counts")));
    if (required.length > 0)
      resends?.setProbe(kind, { states, found, elsewhere, reads: isAssumed ? last.reads + 1 : 0 });
    return found;
  };
  // Most organizations have neither, hour after hour: their reads run while the probe does.
  return { isLikelyPlain: states.resend !== undefined && wanted.length > 0 && last?.found.size === 0, run };
}

async function runProbe(
  database: SpanDatabase,
  what: {
    parts: readonly CountedPart[];
    counts: Counts;
    wanted: readonly ProbeKind[];
    wantedEverywhere: readonly ProbeKind[];
  },
  signal?: AbortSignal,
): Promise<ReadonlySet<unknown>> {
  const { parts, counts, wanted, wantedEverywhere } = what;
  const selects = [
    ...parts.flatMap((part) => wanted.map((name) => `SELECT '${name}' AS probe FROM ${probeSql[name](part, counts)}`)),
    ...wantedEverywhere.map((name) => `SELECT '${name} everywhere' AS probe FROM ${probeEverywhereSql[name]}`),
  ];
  if (selects.length === 0) return new Set();
  const sql = selects.map((select) => `(${select} LIMIT 1)`).join(" UNION ALL ");
  const { rows } = await database.query({ name: "probe", sql, params: paramsOfParts(parts) }, signal);
  return new Set(rows.map((row) => row["probe"]));
}
