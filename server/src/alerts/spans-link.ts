import type { AlertGroup } from "../domain/alert.ts";
import type { Environment } from "../domain/principal.ts";
import { formatTimeNs } from "../lib/time.ts";

/** The list of the spans of a rule's group in a window, as a path with its query. */
export function spansPath(
  { environment, filters }: { environment: Environment; filters: Readonly<Record<string, unknown>> },
  group: AlertGroup,
  { start, end }: { start: string; end: string },
): string {
  const own = Object.entries(group).map(([field, value]) => ({ [field]: conditionOn(value) }));
  const parts = [...(Object.keys(filters).length === 0 ? [] : [filters]), ...own];
  const query = new URLSearchParams({
    environment,
    start_time: start,
    // The window excludes its end, but a list includes both ends.
    end_time: formatTimeNs(BigInt(Date.parse(end)) * 1_000_000n - 1n),
    ...(parts.length > 0 && { filters: JSON.stringify({ connector: "AND", filter_params: parts }) }),
  });
  return `/api/request-logs/list/?${query.toString()}`;
}

/** Spans of the group without a value lack the field. */
function conditionOn(value: string | number | null): object {
  return value === "" || value === null ? { operator: "isnull", value: true } : { operator: "", value: [value] };
}
