import { getRouteApi } from "@tanstack/react-router";
import { useCallback, type ReactNode } from "react";
import type { TraceRow } from "../features/traces/list/queries.ts";
import { TracesList } from "../features/traces/list/traces-list.tsx";

const route = getRouteApi("/shell/traces");

export function TracesScreen(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const open = useCallback(
    ({ trace_unique_id: traceId }: TraceRow) =>
      void navigate({ to: "/traces/$traceId", params: { traceId }, search: {} }),
    [navigate],
  );
  return (
    <TracesList
      search={search}
      change={(part) => void navigate({ search: (before) => ({ ...before, ...part }) })}
      onOpen={open}
    />
  );
}
