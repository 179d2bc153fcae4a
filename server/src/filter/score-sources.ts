import type { SpanRow } from "../domain/span.ts";
import type { Source, SqlScope } from "./catalogue.ts";
import type { ScoreSources } from "./span-fields.ts";

/** A span in memory with the texts of its scores, by evaluator id and by slug. */
export type ScoredSpan = SpanRow & { scores?: Readonly<Record<string, string>> };

/**
 * Scores as fields of spans, from the table `scores`. A statement with them binds `organization_id`, as every statement
 * over spans does. GLOBAL, because otherwise each shard of a cluster would query all others.
 */
export function createScoreSources(): ScoreSources {
  return {
    score: (evaluator) => ({
      sql: () => "text",
      withinSql: (scope, test) => scoredSpans(scope, `${ofEvaluator(scope, evaluator)} AND ${test.on("text")}`),
      read: (row) => {
        const scores = scoresOf(row);
        return Object.hasOwn(scores, evaluator) ? scores[evaluator] : undefined;
      },
      form: "either",
    }),
    evaluatorId: everyEvaluator,
  };
}

const everyEvaluator: Source<SpanRow> = {
  sql: () => "evaluator_id",
  withinSql: (scope, test) => scoredSpans(scope, test.on("evaluator_id")),
  read: (row) => Object.keys(scoresOf(row))[0],
  form: "plain",
};

function scoredSpans(scope: SqlScope, condition: string): string {
  const scored = `SELECT unique_id FROM scores FINAL WHERE organization_id = {organization_id:String} AND ${condition}`;
  return `(${scope.column("unique_id")} GLOBAL IN (${scored}))`;
}

function ofEvaluator(scope: SqlScope, evaluator: string): string {
  const bound = scope.bind("String", evaluator);
  return `(evaluator_id = ${bound} OR evaluator_slug = ${bound})`;
}

/** Rows without the member have no scores. */
function scoresOf(row: SpanRow): Readonly<Record<string, string>> {
  return (row as ScoredSpan).scores ?? {};
}
