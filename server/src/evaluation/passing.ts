import { ServiceError } from "../domain/errors.ts";
import { scoreText, type ScoreValue } from "../domain/score.ts";
import { createCatalogue } from "../filter/catalogue.ts";
import { compileMatcher } from "../filter/match.ts";
import { parseFilters } from "../filter/parse.ts";

/** The one field of passing conditions, by the name that clients use and by a shorter one. */
const catalogue = createCatalogue<ScoreValue>({
  fields: [
    {
      name: "primary_score",
      kind: "dynamic",
      // Judged in memory alone.
      sources: [{ sql: () => "''", read: scoreText, form: "either" }],
      nullable: true,
      choices: [],
      valueAliases: new Map(),
      hidden: false,
    },
  ],
  aliases: [["score", "primary_score"]],
});

/** Passing conditions, in the form of filters, as a test of scores; or what is wrong with them. */
export function compilePassing(
  conditions: Record<string, unknown>,
): { ok: true; passes: (score: ScoreValue) => boolean } | { ok: false; error: string } {
  try {
    return { ok: true, passes: compileMatcher(parseFilters(conditions, catalogue).filter, catalogue) };
  } catch (error) {
    if (error instanceof ServiceError) return { ok: false, error: error.message };
    throw error;
  }
}

/** Null where there are no conditions. */
export function isPassed(conditions: Record<string, unknown> | null, score: ScoreValue): boolean | null {
  if (conditions === null || Object.keys(conditions).length === 0) return null;
  const compiled = compilePassing(conditions);
  return compiled.ok ? compiled.passes(score) : null;
}
