import { z } from "zod";
import type { RowOutcome } from "../../ingest/accept/accept.ts";
import { httpLimits } from "../../http/limits.ts";

/** For responses to ingested spans. */
export const unknownWarnings = z.array(z.string()).optional().meta({
  description: "Names members that are not fields of spans and were ignored. Absent if there are none.",
});

/** The value of a misspelled field is lost: the sender gets a warning. */
export function warningsOf(outcomes: readonly RowOutcome[]): { warnings?: string[] } {
  const names = new Set<string>();
  for (const outcome of outcomes) {
    if (!outcome.ok || outcome.unknown === undefined) continue;
    for (const name of outcome.unknown) if (names.size < httpLimits.unknownMembersNamed) names.add(name);
  }
  if (names.size === 0) return {};
  return { warnings: [...names].map((name) => `${name} is not a field of spans and was passed over`) };
}
