import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ExportSpansQuery, WriteBytes } from "../span-export.ts";
import { countedSpans, paramsOfParts, type Counts } from "./counted-spans.ts";
import { exportRows } from "./export-columns.ts";
import { exportedSpan } from "./exported-span.ts";
import { streamOnce, type Once } from "./once.ts";
import { partOf, scopeWhere, type Where } from "./selection.ts";

/**
 * Exports in one statement, so all spans are as of one moment: the engine reads the parts that existed when it began.
 */
export async function exportSpans(
  database: SpanDatabase,
  query: ExportSpansQuery,
  take: WriteBytes,
  signal: AbortSignal,
): Promise<void> {
  const part = partOf(query);
  const { organization_id } = query.scope;
  const own = scopeWhere({ organization_id });
  const hasScores = query.fields.includes("scores") && (await someScore(database, own, signal));
  const params = { ...own.params, ...paramsOfParts([part]) };
  const shape = { format: query.format, columns: exportedSpan, names: query.fields };
  const stream = (once: Once, counts: Counts, writeBytes: WriteBytes): Promise<void> => {
    const spans = countedSpans([part], once, counts);
    const from = hasScores
      ? `${spans} AS spans ${joinedScores(own.sql)}`
      : `(SELECT *, '' AS scores_of_span FROM ${spans}) AS spans`;
    return exportRows(database, { name: "export_spans", from, params }, shape, writeBytes, signal);
  };
  await streamOnce(database, { parts: [part], counts: "all" }, stream, take, signal);
}

/** A score as the span store has it: explanations and JSON are only in the control store. */
const score = `concat('{"evaluator_id":', toJSONString(toString(evaluator_id)), ',"evaluator_slug":', toJSONString(toString(evaluator_slug)),
  ',"evaluator_name":', toJSONString(toString(evaluator_name)), ',"score_value_type":', toJSONString(toString(score_value_type)),
  ',"score_value":', ifNull(toString(value), 'null'), ',"score_text":', toJSONString(text), ',"is_passed":', ifNull(toString(is_passed), 'null'), '}')`;

/** Whether there are scores. Most organizations have none, and joining them costs a fifth of an export. */
async function someScore(database: SpanDatabase, { sql, params }: Where, signal: AbortSignal): Promise<boolean> {
  const found = await database.query(
    { name: "probe", sql: `SELECT 1 FROM scores WHERE ${sql} LIMIT 1`, params },
    signal,
  );
  return found.rows.length > 0;
}

function joinedScores(where: string): string {
  const scores = `SELECT unique_id AS scored_id,
    concat('{', arrayStringConcat(groupArray(concat(toJSONString(toString(evaluator_id)), ':', ${score})), ','), '}') AS scores_of_span
    FROM (SELECT * FROM scores FINAL WHERE ${where}) GROUP BY unique_id`;
  return `GLOBAL ANY LEFT JOIN (${scores}) AS scored ON unique_id = scored_id`;
}
