import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import type { SpanIntake } from "./accept.ts";
import type { RecordedCall } from "./recorded-call.ts";

/**
 * Accepts finished calls of one organization, whatever they contain. Returns the rows of the calls, in their order;
 * undefined, after an error log, for one that is refused even without its content.
 *
 * @param isRecalled whether they may have been accepted before, by this process or an earlier one
 * @throws ServiceError `unavailable` if the journal cannot take them: pass them again, as recalled
 */
export type AcceptCalls = (
  calls: readonly RecordedCall[],
  options?: { isRecalled?: boolean },
) => Promise<Array<SpanRow | undefined>>;

export function createAcceptCalls(deps: { intake: Pick<SpanIntake, "acceptCalls">; logger: Logger }): AcceptCalls {
  const { intake, logger } = deps;
  const onFault = (error: unknown): void =>
    logger.error({ err: error }, "the span of a gateway call could not be made");
  return async (calls, { isRecalled = false } = {}) => {
    const outcomes = await intake.acceptCalls(calls, { isRecalled, onFault });
    return outcomes.map((outcome) => {
      if (outcome.ok) return outcome.row;
      logger.error({ fields: Object.keys(outcome.errors) }, "the span of a gateway call was refused");
      return undefined;
    });
  };
}
