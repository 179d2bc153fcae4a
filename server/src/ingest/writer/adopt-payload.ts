import type { Journal, JournalEntry } from "../../storage/journal/journal.ts";
import type { SpanIntake } from "../accept/accept.ts";
import { recallSpan } from "../accept/prepared-span.ts";
import { markResends, splitLines, unmarked } from "./row-lines.ts";

/**
 * Accepts rows of one organization that another node accepted before. They keep their identities, so storing them again
 * is safe.
 */
export type AdoptPayload = (payload: Buffer) => Promise<void>;

export function createAdoptPayload(deps: {
  intake: Pick<SpanIntake, "acceptHeld">;
  journal: Pick<Journal, "append">;
  committed: (entry: JournalEntry, payload: Buffer) => void;
}): AdoptPayload {
  const { intake, journal, committed } = deps;
  return async (payload) => {
    const lines = splitLines(payload).map(unmarked);
    // Tombstones are not spans; damaged lines are left for the store to refuse.
    const spans = lines.map((line) => recallSpan(line)).map((span) => (span?.row?.is_deleted === 1 ? undefined : span));
    await intake.acceptHeld(spans.filter((span) => span !== undefined));
    const others = lines.filter((_, at) => spans[at] === undefined);
    if (others.length === 0) return;
    const rest = markResends(Buffer.concat(others.flatMap((line) => [line, Buffer.from("\n")])));
    const entry = await journal.append({
      payload: rest,
      rows: others.length,
      identities: [],
      hasResends: true,
      isOwed: true,
    });
    committed(entry, rest);
  };
}
