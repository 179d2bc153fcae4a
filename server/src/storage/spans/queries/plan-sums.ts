import type { LastPass } from "../drivers/pass-memory.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import { localTable, onCluster } from "../migrations/dialect.ts";
import type { SumsDay, SumsPass, SumsPlan, SumsTiming } from "../span-sums.ts";
import { hourSeconds, slotOf, slotSeconds } from "./sum-columns.ts";

/** The tables that show changes, by new rows or by marks, in `stored_at`; `time` is the time of a row. */
export const changedIn = [
  { table: "spans", time: "timestamp", slot: slotOf },
  { table: "span_counts", time: "timestamp", slot: slotOf },
  { table: "span_sum_marks", time: "slot", slot: `toInt64(intDiv(toUInt32(slot), ${slotSeconds})) * ${slotSeconds}` },
] as const;

/** The last pass: epoch, watermark, end of its closed slots, and whether hours are summed. */
const lastPass = "(SELECT max((epoch, watermark, closed, has_hours)) FROM span_sum_passes)";

const ms = (time: string): string => `toUnixTimestamp64Milli(${time})`;
export const timeOf = (atMs: number): string => `fromUnixTimestamp64Milli(${atMs}, 'UTC')`;

/** The start of the hour that a time lies in. */
const hourOf = (atMs: number): number => Math.floor(atMs / (hourSeconds * 1_000)) * hourSeconds * 1_000;

/**
 * Plans a pass up to a moment until which all stored rows are visible: the margin allows for clocks and replicas, and
 * no running insert began before it. Waits for background deletions, whose rows would stay in the sums for ever.
 */
export async function planSums(
  database: SpanDatabase,
  { marginMs, openMs }: SumsTiming,
  signal?: AbortSignal,
): Promise<SumsPlan> {
  const { rows } = await database.query({ name: "plan_sums", sql: stateSql(database) }, signal);
  const state = numbersOf(rows[0] ?? {});
  if (state.mutations > 0) return { kind: "wait" };
  if (state.watermark > state.now) {
    await resetSums(database);
    return { kind: "wait" };
  }
  const untilMs = Math.min(state.now, state.insert_began || state.now) - marginMs;
  if (untilMs <= state.watermark) return { kind: "wait" };
  // A node of an earlier version does not sum hours.
  const isNew = state.epoch === 0 || state.has_hours === 0;
  const last = isNew
    ? { epoch: state.epoch + 1, afterMs: 0, closedAfterMs: 0 }
    : { epoch: state.epoch, afterMs: state.watermark, closedAfterMs: state.closed * 1_000 };
  const slotMs = slotSeconds * 1_000;
  const closedUntilMs = Math.max(last.closedAfterMs, Math.floor((untilMs - openMs) / slotMs) * slotMs);
  const pass = { ...last, untilMs, closedUntilMs };
  return { kind: "pass", pass, days: await daysOf(database, pass, signal) };
}

const stateColumns = `${ms("now64(3)")} AS now, ${lastPass}.1 AS epoch, ${ms(`${lastPass}.2`)} AS watermark,
  toUnixTimestamp(${lastPass}.3) AS closed, ${lastPass}.4 AS has_hours`;

function stateSql({ cluster }: SpanDatabase): string {
  const everywhere = (table: string) => (cluster === null ? table : `clusterAllReplicas('${cluster}', ${table})`);
  return `SELECT ${stateColumns},
    (SELECT count() FROM ${everywhere("system.mutations")} WHERE database = currentDatabase() AND NOT is_done
      AND match(table, '^span(s|_counts)(_local)?$') AND NOT match(command, '^\\(?MATERIALIZE ')) AS mutations,
    (SELECT min(${ms("now64(3)")} - toInt64(elapsed * 1000)) FROM ${everywhere("system.processes")}
      WHERE query_kind = 'Insert' AND current_database = currentDatabase()) AS insert_began`;
}

function numbersOf(row: ResultRow) {
  const read = (name: string): number => Number(row[name] ?? 0);
  return {
    now: read("now"),
    epoch: read("epoch"),
    watermark: read("watermark"),
    closed: read("closed"),
    has_hours: read("has_hours"),
    mutations: read("mutations"),
    insert_began: read("insert_began"),
  };
}

/** Finds the days with slots or hours to build: those with rows that arrived since the last pass, and those that were still open in it. */
async function daysOf(database: SpanDatabase, pass: SumsPass, signal?: AbortSignal): Promise<SumsDay[]> {
  const [hours, slots] = [
    `timestamp >= ${timeOf(hourOf(pass.closedAfterMs))}`,
    `timestamp >= ${timeOf(pass.closedAfterMs)}`,
  ];
  const closing = `(${slots} OR (${hours} AND timestamp < ${timeOf(hourOf(pass.closedUntilMs))}))`;
  const of = ({ table, time }: (typeof changedIn)[number], condition: string) =>
    `SELECT organization_id, toDate32(${time}) AS day FROM ${table}
      WHERE ${condition} AND ${time} >= ${timeOf(0)} AND ${time} < ${timeOf(pass.closedUntilMs)}`;
  const parts = [
    ...changedIn.map((each) => of(each, `stored_at > ${timeOf(pass.afterMs)}`)),
    of(changedIn[0], closing),
  ];
  const { rows } = await database.query(
    { name: "plan_sums", sql: `SELECT DISTINCT * FROM (${parts.join(" UNION ALL ")}) ORDER BY day` },
    signal,
  );
  return rows.map((row) => ({ organization_id: String(row["organization_id"]), day: String(row["day"]) }));
}

export async function finishSums(database: SpanDatabase, pass: SumsPass): Promise<void> {
  await database.build({
    name: "finish_sums",
    sql: `INSERT INTO span_sum_passes (epoch, watermark, closed, has_hours)
      SELECT ${pass.epoch}, ${timeOf(pass.untilMs)}, toDateTime(${pass.closedUntilMs / 1_000}, 'UTC'), 1`,
  });
  database.passes.clear();
}

/** Starts a new epoch and deletes the sums of old epochs. Keeps the newest ones: running reads, also on other nodes, may use them. */
export async function resetSums(database: SpanDatabase): Promise<void> {
  const { rows } = await database.query({ name: "reset_sums", sql: `SELECT ${lastPass}.1 AS epoch` });
  const epoch = Number(rows[0]?.["epoch"] ?? 0);
  await database.build({
    name: "reset_sums",
    sql: `INSERT INTO span_sum_passes (epoch, watermark, closed, has_hours) SELECT ${epoch + 1}, ${timeOf(0)}, toDateTime(0, 'UTC'), 1`,
  });
  database.passes.clear();
  for (const table of ["span_sums", "span_hour_sums"] as const) {
    await database.execute({
      name: "reset_sums",
      sql: `ALTER TABLE ${localTable(database, table)}${onCluster(database)} DELETE WHERE epoch < ${epoch - 2}`,
      settings: { mutations_sync: 0 },
    });
  }
}

/** The newest finished pass, as the node caches it. */
export async function readLastPass(database: SpanDatabase, signal?: AbortSignal): Promise<LastPass> {
  return await database.passes.read(async () => {
    const { now, epoch, watermark, closed, has_hours } = await readState(database, signal);
    return {
      epoch,
      watermarkMs: watermark,
      closedMs: closed * 1_000,
      hasHours: has_hours > 0,
      isAhead: watermark > now,
    };
  });
}

export async function readSumsState(
  database: SpanDatabase,
  signal?: AbortSignal,
): Promise<{ watermarkMs: number; nowMs: number }> {
  const { now, watermark } = await readState(database, signal);
  return { watermarkMs: watermark, nowMs: now };
}

async function readState(database: SpanDatabase, signal?: AbortSignal) {
  const { rows } = await database.query({ name: "sums_state", sql: `SELECT ${stateColumns}` }, signal);
  return numbersOf(rows[0] ?? {});
}

/** Takes the turn for `forMs` from now, unless another node has it. */
export async function acquireSumsLease(database: SpanDatabase, node: string, forMs: number): Promise<boolean> {
  const sql = "SELECT max((until, node)).2 AS node, max(until) > now64(3) AS is_taken FROM span_sum_turns";
  const { rows } = await database.query({ name: "sums_turn", sql });
  if (Number(rows[0]?.["is_taken"]) === 1 && rows[0]?.["node"] !== node) return false;
  await database.build({
    name: "sums_turn",
    sql: `INSERT INTO span_sum_turns SELECT 'build', {node:String}, now64(3) + toIntervalMillisecond(${forMs})`,
    params: { node },
  });
  return true;
}
