import { ServiceError } from "../domain/errors.ts";
import { scoreText, type ScoreValue } from "../domain/score.ts";
import { createCatalogue } from "../filter/catalogue.ts";
import { compileMatcher } from "../filter/match.ts";
import { parseFilters } from "../filter/parse.ts";

/** The only field of passing conditions, with the name that clients use and a shorter one. */
const catalogue = createCatalogue<ScoreValue>({
  fields: [
    {
      name: "primary_score",
      kind: "dynamic",
      // Evaluated only in memory.
      sources: [{ sql: () => "''", read: scoreText, form: "either" }],
      nullable: true,
      choices: [],
      valueAliases: new Map(),
      hidden: false,
    },
  ],
  aliases: [["score", "primary_score"]],
});

/** Compiles passing conditions, in the form of filters, to a test of scores. Returns the error if they are invalid. */
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

/** Null if there are no conditions. */
export function isPassed(conditions: Record<string, unknown> | null, score: ScoreValue): boolean | null {
  if (conditions === null || Object.keys(conditions).length === 0) return null;
  const compiled = compilePassing(conditions);
  return compiled.ok ? compiled.passes(score) : null;
}
