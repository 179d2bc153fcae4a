import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import type { SpanIntake } from "./accept.ts";
import type { RecordedCall } from "./recorded-call.ts";

/**
 * Accepts finished calls of one organization, whatever they contain. Returns the rows of recalled calls, and how many
 * were refused even without their content, after an error log.
 *
 * @param isRecalled whether they may have been accepted before, by this process or an earlier one
 * @throws ServiceError `unavailable` if the journal cannot take them: pass them again, as recalled
 */
export type AcceptCalls = (
  calls: readonly RecordedCall[],
  options?: { isRecalled?: boolean },
) => Promise<{ rows: SpanRow[]; refused: number }>;

export function createAcceptCalls(deps: { intake: Pick<SpanIntake, "acceptCalls">; logger: Logger }): AcceptCalls {
  const { intake, logger } = deps;
  const onFault = (error: unknown): void =>
    logger.error({ err: error }, "the span of a gateway call could not be made");
  return (calls, { isRecalled = false } = {}) =>
    intake.acceptCalls(calls, { isRecalled, onFault }).then((outcomes) => {
      const refusals = outcomes.filter((outcome) => !outcome.ok);
      for (const { errors } of refusals) {
        logger.error({ fields: Object.keys(errors) }, "the span of a gateway call was refused");
      }
      const rows = outcomes.flatMap((outcome) => (outcome.ok ? (outcome.row ?? []) : []));
      return { rows, refused: refusals.length };
    });
}
