import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { SpanIntake } from "../accept/accept.ts";
import { readCall, type AcceptCalls } from "../accept/recorded-call.ts";
import { recallSpan } from "../accept/recalled-span.ts";
import { markResends, splitLines, unmarked } from "./row-lines.ts";
import type { SpanWriter } from "./writer.ts";

/** Accepts what another process left. Spans keep their identities, so storing them again is safe. */
export type Adopt = {
  /** Accepts the rows of a journal's entry, all of one organization. */
  rows(payload: Buffer): Promise<void>;
  /**
   * Accepts a record of the spool and returns the row of its span. Logs an error and returns undefined if the record is
   * unreadable or refused.
   */
  call(text: Buffer): Promise<SpanRow | undefined>;
};

export function createAdopt(deps: {
  intake: Pick<SpanIntake, "acceptAgain">;
  acceptCalls: AcceptCalls;
  journal: Pick<Journal, "append">;
  writer: Pick<SpanWriter, "add">;
  logger: Logger;
}): Adopt {
  const { intake, acceptCalls, journal, writer, logger } = deps;
  return {
    async rows(payload) {
      const lines = splitLines(payload).map(unmarked);
      // Tombstones are not spans; damaged lines are left for the store to refuse.
      const spans = lines
        .map((line) => recallSpan(line))
        .map((span) => (span?.row.is_deleted === 1 ? undefined : span));
      await intake.acceptAgain(spans.filter((span) => span !== undefined));
      const others = lines.filter((_, at) => spans[at] === undefined);
      if (others.length === 0) return;
      const rest = markResends(Buffer.concat(others.flatMap((line) => [line, Buffer.from("\n")])));
      const entry = await journal.append({
        payload: rest,
        rows: others.length,
        identities: [],
        hasResends: true,
        isExemptFromShare: true,
      });
      writer.add(entry, rest);
    },
    async call(text) {
      const call = readCall(text.toString("utf8"));
      if (call !== undefined) return (await acceptCalls([call], { isRecalled: true })).rows[0];
      // Version 0.1 recorded rows.
      const span = recallSpan(text);
      if (span === undefined) logger.error("the record of a call that another process left is unreadable");
      else await intake.acceptAgain([span]);
      return span?.row;
    },
  };
}
