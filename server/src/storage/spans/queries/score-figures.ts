import type { SpanDatabase, ResultRow } from "../drivers/span-database.ts";
import type { GroupScoresQuery, ScoreFigures, SpanSelection } from "../span-store.ts";
import { countedSpans, paramsOfParts, readsIdentity } from "./counted-spans.ts";
import { groupKeys } from "./group-keys.ts";
import { hasRows } from "./has-rows.ts";
import { partOf } from "./selection.ts";

const columns = [
  "evaluator_id",
  "argMax(evaluator_slug, version) AS slug",
  "argMax(evaluator_name, version) AS name",
  "argMax(score_value_type, version) AS value_type",
  "count() AS scored",
  "avg(value) AS average",
  "countIf(score_value_type = 'boolean' AND value = 1) AS trues",
  "countIf(score_value_type = 'boolean' AND value = 0) AS falses",
].join(", ");

const ownScores = "scores FINAL WHERE organization_id = {organization_id:String}";

/** Figures of the scores of the selected spans, by evaluator. */
export async function summarizeScores(
  database: SpanDatabase,
  selection: SpanSelection,
  signal?: AbortSignal,
): Promise<ScoreFigures[]> {
  const parts = [partOf(selection)];
  const params = paramsOfParts(parts);
  const { organization_id: organizationId } = selection.scope;
  if (!(await hasRows(database, "scores", organizationId, signal))) return [];
  const counts = readsIdentity(selection.filter) ? "match" : "none";
  const { rows } = await database.query(
    {
      name: "summarize_scores",
      sql: `SELECT ${columns} FROM ${ownScores}
        AND unique_id GLOBAL IN (SELECT unique_id FROM ${countedSpans(parts, "FINAL", counts)})
        GROUP BY evaluator_id ORDER BY evaluator_id`,
      params,
    },
    signal,
  );
  return rows.map(figuresOfRow);
}

/** The same for some groups of the spans, in no order. */
export async function groupScores(
  database: SpanDatabase,
  { groupBy, keys, ...selection }: GroupScoresQuery,
  signal?: AbortSignal,
): Promise<Array<{ text: string; figures: ScoreFigures }>> {
  const parts = [partOf(selection)];
  const group = groupKeys(groupBy);
  const params = { ...paramsOfParts(parts), ...group.params };
  const { organization_id: organizationId } = selection.scope;
  if (keys.length === 0 || !(await hasRows(database, "scores", organizationId, signal))) return [];
  const counts = group.isByIdentity ? "all" : readsIdentity(selection.filter) ? "match" : "none";
  const { rows } = await database.query(
    {
      name: "group_scores",
      sql: `SELECT group_text, ${columns} FROM (SELECT * FROM ${ownScores}) AS given
        GLOBAL INNER JOIN (
          SELECT unique_id, ${group.text} AS group_text
          FROM ${countedSpans(parts, "FINAL", counts)} WHERE group_text IN {score_keys:Array(String)}
        ) AS grouped ON given.unique_id = grouped.unique_id
        GROUP BY group_text, evaluator_id ORDER BY evaluator_id`,
      params: { ...params, score_keys: [...new Set(keys)] },
    },
    signal,
  );
  return rows.map((row) => ({
    text: String(row["group_text"]),
    figures: figuresOfRow(row),
  }));
}

function figuresOfRow(row: ResultRow): ScoreFigures {
  const isBoolean = row["value_type"] === "boolean";
  const average = row["average"];
  return {
    evaluator_id: String(row["evaluator_id"]),
    evaluator_slug: String(row["slug"]),
    evaluator_name: String(row["name"]),
    score_value_type: String(row["value_type"]),
    count: Number(row["scored"]),
    avg_score: average === null || average === undefined ? null : Number(average),
    true_count: isBoolean ? Number(row["trues"]) : null,
    false_count: isBoolean ? Number(row["falses"]) : null,
  };
}
