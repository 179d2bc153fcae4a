import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { SpanStore, StoredTrace } from "../../storage/spans/span-store.ts";

/** The trace of an id: in the environment of the key, else in the other. @throws ServiceError `not_found` */
export async function findTrace(
  spans: Pick<SpanStore, "retrieveTraces">,
  { organizationId, traceId, first }: { organizationId: string; traceId: string; first: Environment },
  signal?: AbortSignal,
): Promise<StoredTrace> {
  const traces = await spans.retrieveTraces({ organization_id: organizationId }, traceId, signal);
  const trace = traces.find(({ environment }) => environment === first) ?? traces[0];
  if (trace === undefined) throw traceNotFound();
  return trace;
}

export function traceNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no trace with this trace_unique_id.");
}
