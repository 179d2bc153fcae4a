import { traceNumbers } from "../../domain/trace.ts";
import { JsonObjectWriter } from "../../lib/json-writer.ts";
import { isoTime } from "../../lib/time.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import type { StoredTrace } from "../../storage/spans/trace-queries.ts";
import { columnsOf } from "../request-logs/present-span.ts";
import { spanMembers } from "../request-logs/span-members.ts";
import type { TraceOwner } from "./trace-owner.ts";

const payloadMembers = ["input", "output", "metadata"] as const;

/** The fields with which the root has to be read for `writeTrace`. */
export const rootFields = columnsOf(payloadMembers);

/**
 * The members of a trace as JSON, to which those of its tree are appended. `root` is undefined if it was deleted
 * meanwhile.
 */
export function writeTrace(
  trace: StoredTrace,
  root: StoredSpan | undefined,
  { unique_organization_id: organizationId, name: organizationName }: TraceOwner,
  isHidden: (member: string) => boolean = () => false,
): JsonObjectWriter {
  const writer = new JsonObjectWriter();
  const text = (name: string, value: string) => isHidden(name) || writer.value(name, value === "" ? null : value);
  writer.value("id", trace.trace_unique_id).value("trace_unique_id", trace.trace_unique_id);
  text("root_span_unique_id", trace.root_span_unique_id);
  writer.value("unique_organization_id", organizationId).value("organization_id", organizationId);
  text("organization_name", organizationName);
  text("organization_key_id", trace.organization_key_id);
  writer.value("environment", trace.environment);
  text("name", trace.name);
  text("customer_identifier", trace.customer_identifier);
  text("thread_identifier", trace.thread_identifier);
  text("session_identifier", trace.session_identifier);
  text("trace_group_identifier", trace.trace_group_identifier);
  text("workflow_name", trace.workflow_name);
  text("span_workflow_name", trace.workflow_name);
  text("model", trace.model);
  writer
    .value("timestamp", isoTime(trace.end_time))
    .value("start_time", isoTime(trace.start_time))
    .value("end_time", isoTime(trace.end_time));
  for (const name of traceNumbers) writer.value(name, trace[name]);
  for (const name of payloadMembers) {
    if (!isHidden(name)) writer.raw(name, (root && spanMembers[name]?.json(root)) ?? "null");
  }
  return writer.value("storage_object_key", null);
}
