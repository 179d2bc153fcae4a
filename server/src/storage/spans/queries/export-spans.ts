import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ExportSpansQuery, TakeBytes } from "../span-export.ts";
import { countedSpans, paramsOfParts } from "./counted-spans.ts";
import { exportRows } from "./export-columns.ts";
import { exportedSpan } from "./exported-span.ts";
import { partOf, scopeWhere } from "./selection.ts";

/**
 * One statement, so that every span is as it was at one moment: the engine reads the parts that there were when it began.
 * Always with FINAL, as what is sent again meanwhile must not make a span come twice.
 */
export async function exportSpans(
  database: SpanDatabase,
  query: ExportSpansQuery,
  take: TakeBytes,
  signal: AbortSignal,
): Promise<void> {
  const part = partOf(query);
  const spans = `${countedSpans([part], "FINAL", "all")} AS spans`;
  const scoped = scopeWhere(query.scope);
  const hasScores = query.fields.includes("scores");
  const from = hasScores
    ? `${spans} ${joinedScores(scopeWhere({ organization_id: query.scope.organization_id }).sql)}`
    : spans;
  await exportRows(
    database,
    { name: "export_spans", from, params: { ...scoped.params, ...paramsOfParts([part]) } },
    { format: query.format, columns: exportedSpan, names: query.fields },
    take,
    signal,
  );
}

/** As the span store has them: a score's explanation and its JSON are in the control store alone. */
const score = `concat('{"evaluator_id":', toJSONString(toString(evaluator_id)), ',"evaluator_slug":', toJSONString(toString(evaluator_slug)),
  ',"evaluator_name":', toJSONString(toString(evaluator_name)), ',"score_value_type":', toJSONString(toString(score_value_type)),
  ',"score_value":', ifNull(toString(value), 'null'), ',"score_text":', toJSONString(text), ',"is_passed":', ifNull(toString(is_passed), 'null'), '}')`;

function joinedScores(where: string): string {
  const scores = `SELECT unique_id AS scored_id,
    concat('{', arrayStringConcat(groupArray(concat(toJSONString(toString(evaluator_id)), ':', ${score})), ','), '}') AS scores_of_span
    FROM (SELECT * FROM scores FINAL WHERE ${where}) GROUP BY unique_id`;
  return `GLOBAL ANY LEFT JOIN (${scores}) AS scored ON unique_id = scored_id`;
}
