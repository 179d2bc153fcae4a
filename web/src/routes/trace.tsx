import { getRouteApi } from "@tanstack/react-router";
import { useCallback, type ReactNode } from "react";
import type { ChangeSearch } from "../features/traces/search.ts";
import { Trace } from "../features/traces/trace-screen.tsx";

const route = getRouteApi("/shell/traces/$traceId");

export function TraceScreen(): ReactNode {
  const { traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change: ChangeSearch = useCallback(
    (part, how = {}) => void navigate({ search: (before) => ({ ...before, ...part }), resetScroll: false, ...how }),
    [navigate],
  );
  const leave = useCallback(() => void navigate({ to: "/traces", replace: true, search: {} }), [navigate]);
  return <Trace key={traceId} id={traceId} search={search} change={change} onDeleted={leave} />;
}
