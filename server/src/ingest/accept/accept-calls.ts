import type { Logger } from "pino";
import type { SpanRow } from "../../domain/span.ts";
import type { SpanIntake } from "./accept.ts";
import type { RecordedCall } from "./recorded-call.ts";
import { bareCall, withoutRefused } from "./reduce-call.ts";

/**
 * Accepts finished calls of one organization, whatever they contain: a call that the intake refuses is accepted without
 * the fields that it refuses, or finally without any content. Returns the rows of the calls, in their order; undefined,
 * after an error log, for one that is refused even then.
 *
 * @param isRecalled whether an earlier process recorded them; that process may have had them accepted
 * @throws ServiceError `unavailable` if the journal cannot take them. The calls may be passed again.
 */
export type AcceptCalls = (
  calls: readonly RecordedCall[],
  options?: { isRecalled?: boolean },
) => Promise<Array<SpanRow | undefined>>;

export function createAcceptCalls(deps: { intake: Pick<SpanIntake, "acceptCalls">; logger: Logger }): AcceptCalls {
  const { intake, logger } = deps;
  return async (calls, { isRecalled = false } = {}) => {
    const rows: Array<SpanRow | undefined> = calls.map(() => undefined);
    let pending = calls.map((call, at) => ({ call, at }));
    for (const reduce of [withoutRefused, bareCall, undefined]) {
      if (pending.length === 0) break;
      const outcomes = await intake.acceptCalls(
        pending.map(({ call }) => call),
        isRecalled,
      );
      pending = pending.flatMap(({ call, at }, index) => {
        const outcome = outcomes[index];
        if (outcome?.ok !== false) {
          rows[at] = outcome?.row;
          return [];
        }
        if (reduce !== undefined) return [{ call: { ...call, body: reduce(call.body, outcome) }, at }];
        logger.error("the span of a gateway call was refused");
        return [];
      });
    }
    return rows;
  };
}
