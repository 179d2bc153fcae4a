import type { AlertGroup } from "../domain/alert.ts";
import type { Environment } from "../domain/principal.ts";
import { formatTimeNs } from "../lib/time.ts";

/** The list of the spans that a group of a rule has in a window, as a path with its query. */
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
    // Windows end before it, and both ends of a list belong to it.
    end_time: formatTimeNs(BigInt(Date.parse(end)) * 1_000_000n - 1n),
    ...(parts.length > 0 && { filters: JSON.stringify({ connector: "AND", filter_params: parts }) }),
  });
  return `/api/request-logs/list/?${query.toString()}`;
}

/** The group without a value has no such field. */
function conditionOn(value: string | number | null): object {
  return value === "" || value === null ? { operator: "isnull", value: true } : { operator: "", value: [value] };
}
