import { sql } from "kysely";
import { jsonRows } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";

/**
 * Cost of the model judges of each automation per UTC day, and reservations for running judgements, shared by all nodes.
 * Amounts are whole micro-dollars. Each claim of a run has at most one reservation. It ends once: with the real cost, or
 * with the whole reserved amount if the claim lapses, as it does when its node dies. Methods run several statements: use
 * them in a transaction.
 */
export type JudgementLedger = {
  /**
   * Reserves the highest cost of judgements, in order, as far as they fit. A judgement that may cost more than is left
   * takes all of the rest, and is admitted only while nothing else is reserved, so that at most one judgement exceeds
   * the budget.
   */
  reserve: (request: JudgementRequest) => Promise<JudgementAdmission>;
  /** Ends reservations. Ignores claims without an open reservation, so that each counts once. */
  settle: (judgements: ReadonlyArray<JudgementClaim & { microUsd: number }>) => Promise<void>;
  /**
   * Ends reservations whose claim is over without a result and charges them in full, as the judgement may have cost
   * that. Returns the charged amount.
   */
  chargeLapsed: (now: string) => Promise<number>;
};

/** `attempt` distinguishes the claims of a run. */
export type JudgementClaim = { runId: number; attempt: number };

export type JudgementRequest = {
  automationId: string;
  day: string;
  budget: number;
  judgements: ReadonlyArray<JudgementClaim & { most: number }>;
};

/** `isSpent`: nothing is left, and nothing is reserved that might be returned. */
export type JudgementAdmission = { admitted: number[]; isSpent: boolean };

export function createJudgementLedger(queries: ControlQueries): JudgementLedger {
  return {
    reserve: (request) => reserve(queries, request),
    settle: (judgements) => settle(queries, judgements),
    chargeLapsed: (now) => chargeLapsed(queries, now),
  };
}

async function reserve(
  queries: ControlQueries,
  { automationId, day, budget, judgements }: JudgementRequest,
): Promise<JudgementAdmission> {
  // Comes first because it locks the day: concurrent calls then count what this one reserves.
  const spent = await addSpent(queries, { automationId, day, microUsd: 0 });
  const open = await queries
    .selectFrom("judgement_reservations")
    .select((row) => [row.fn.countAll().as("count"), row.fn.sum("amount_micro_usd").as("amount")])
    .where("automation_id", "=", automationId)
    .where("day", "=", day)
    .executeTakeFirst();
  let left = budget - spent - Number(open?.amount ?? 0);
  let count = Number(open?.count ?? 0);
  const rows = [];
  for (const { runId, attempt, most } of judgements) {
    if (left <= 0 || (most > left && count > 0)) break;
    const amount = Math.ceil(Math.min(most, left));
    rows.push({ run_id: runId, attempt, automation_id: automationId, day, amount_micro_usd: amount });
    left -= amount;
    count += 1;
  }
  if (rows.length > 0) await queries.insertInto("judgement_reservations").values(rows).execute();
  return { admitted: rows.map((row) => row.run_id), isSpent: left <= 0 && count === 0 };
}

async function settle(
  queries: ControlQueries,
  judgements: ReadonlyArray<JudgementClaim & { microUsd: number }>,
): Promise<void> {
  if (judgements.length === 0) return;
  const claims = jsonRows(judgements.map(({ runId, attempt }) => [runId, attempt]));
  const ended = await queries
    .deleteFrom("judgement_reservations")
    .where(
      sql<boolean>`(run_id, attempt) in
        (select cast(value ->> 0 as integer), cast(value ->> 1 as integer) from json_each(${claims}))`,
    )
    .returning(["run_id", "attempt", "automation_id", "day"])
    .execute();
  const costs = new Map(judgements.map(({ runId, attempt, microUsd }) => [`${runId} ${attempt}`, microUsd]));
  await charge(
    queries,
    ended.map((row) => ({ ...row, microUsd: costs.get(`${row.run_id} ${row.attempt}`) ?? 0 })),
  );
}

async function chargeLapsed(queries: ControlQueries, now: string): Promise<number> {
  const ended = await queries
    .deleteFrom("judgement_reservations")
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom("evaluation_runs")
            .select("id")
            .whereRef("id", "=", "judgement_reservations.run_id")
            .whereRef("attempts", "=", "judgement_reservations.attempt")
            .where("state", "=", "running")
            .where("due_at", ">", now),
        ),
      ),
    )
    .returning(["automation_id", "day", "amount_micro_usd"])
    .execute();
  const lapsed = ended.map((row) => ({ ...row, microUsd: Number(row.amount_micro_usd) }));
  await charge(queries, lapsed);
  return lapsed.reduce((sum, { microUsd }) => sum + microUsd, 0);
}

type Cost = { automation_id: string; day: string; microUsd: number };

/** In a fixed order, so that two nodes never deadlock. */
async function charge(queries: ControlQueries, costs: readonly Cost[]): Promise<void> {
  const days = [...Map.groupBy(costs, ({ automation_id, day }) => `${automation_id} ${day}`)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  for (const [, [first, ...others]] of days) {
    if (first === undefined) continue;
    const microUsd = others.reduce((sum, cost) => sum + cost.microUsd, first.microUsd);
    if (microUsd > 0) await addSpent(queries, { automationId: first.automation_id, day: first.day, microUsd });
  }
}

/** Returns the new sum. */
async function addSpent(
  queries: ControlQueries,
  { automationId, day, microUsd }: { automationId: string; day: string; microUsd: number },
): Promise<number> {
  const row = await queries
    .insertInto("automation_spend")
    .values({ automation_id: automationId, day, spent_micro_usd: microUsd })
    .onConflict((conflict) =>
      conflict.columns(["automation_id", "day"]).doUpdateSet((column) => ({
        spent_micro_usd: column("automation_spend.spent_micro_usd", "+", column.ref("excluded.spent_micro_usd")),
      })),
    )
    .returning("spent_micro_usd")
    .executeTakeFirstOrThrow();
  return Number(row.spent_micro_usd);
}
