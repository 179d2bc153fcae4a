import type { UsageCount } from "../domain/usage-fact.ts";
import type { CountedTrace } from "./trace-memory.ts";

/** Whether a call belongs to another trace of the same environment. */
export const isElsewhere = (called: CountedTrace, trace: CountedTrace): boolean =>
  called !== trace && called.name.environment === trace.name.environment;

/**
 * Sets the customer and thread of gateway calls that this trace names. Returns the called traces for which that is a
 * change.
 */
export function setReporters(
  trace: CountedTrace,
  counts: ReadonlyMap<string, UsageCount>,
  named: ReadonlyMap<string, CountedTrace>,
): CountedTrace[] {
  const changed: CountedTrace[] = [];
  for (const fact of trace.facts.values()) {
    const id = fact.gateway_log_id;
    const called = id === "" ? undefined : named.get(id);
    const count = counts.get(fact.unique_id);
    if (called === undefined || count === undefined || !isElsewhere(called, trace)) continue;
    const { customer_identifier, thread_identifier } = count;
    const before = called.reporters.get(id);
    if (before?.customer_identifier === customer_identifier && before.thread_identifier === thread_identifier) continue;
    called.setReporter(id, { customer_identifier, thread_identifier });
    changed.push(called);
  }
  return changed;
}
