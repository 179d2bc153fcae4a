import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { filtersOf, type Scope } from "./queries.ts";

/** The interval of checks for new spans. */
const pulseMs = 3000;
const pulseWindowMs = 15 * 60_000;
/** Computing the figures may take at most this share of the time: a large instance refreshes less often. */
const busyShare = 0.1;

/**
 * Refetches the figures of a moving window when a new span that they count has arrived, and not while nothing arrives
 * or the page is hidden. A span that ended long before it was sent appears when the window moves, which is every
 * minute.
 */
export function useFresh({ window, query: typed }: Scope): void {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const newest = useNewestId(typed, window.isMoving);
  const seen = useRef<string | null>(undefined);
  const notBefore = useRef(0);
  useEffect(() => {
    if (newest === undefined) return undefined;
    const isNew = seen.current !== undefined && newest !== null && newest !== seen.current;
    if (!isNew) {
      seen.current = newest;
      return undefined;
    }
    const refresh = async (): Promise<void> => {
      seen.current = newest;
      const began = performance.now();
      await queries.refetchQueries({
        type: "active",
        predicate: ({ queryKey, meta }) => queryKey[0] === environment && meta?.["isFigure"] === true,
      });
      const ended = performance.now();
      notBefore.current = ended + (ended - began) * (1 / busyShare - 1);
    };
    const timer = setTimeout(() => void refresh(), Math.max(0, notBefore.current - performance.now()));
    return () => clearTimeout(timer);
  }, [newest, queries, environment]);
}

/** The id of the span that ended last, within the last minutes; null if there is none. */
function useNewestId(typed: string, isEnabled: boolean): string | null | undefined {
  const environment = useEnvironment();
  const filters = filtersOf(typed);
  const { data } = useApiQuery(
    ["newest id", filters],
    async (api, signal) => {
      const start_time = new Date(Date.now() - pulseWindowMs).toISOString();
      const query = { start_time, environment, page_size: 1, include_fields: "unique_id", sort_by: "-timestamp" };
      const page = await bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body: { filters }, signal }));
      return page.results[0]?.unique_id ?? null;
    },
    { enabled: isEnabled, refetchInterval: pulseMs, staleTime: 0, gcTime: 0, refetchOnWindowFocus: "always" },
  );
  return data;
}
