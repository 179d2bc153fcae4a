import { getRouteApi } from "@tanstack/react-router";
import { useCallback, type ReactNode } from "react";
import type { ChangeSearch } from "../features/traces/search.ts";
import { SharedTrace } from "../features/traces/shared-trace.tsx";

const route = getRouteApi("/share/$organizationId/$traceId");

export function ShareScreen(): ReactNode {
  const { organizationId, traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change: ChangeSearch = useCallback(
    (part, how = {}) => void navigate({ search: (before) => ({ ...before, ...part }), resetScroll: false, ...how }),
    [navigate],
  );
  return <SharedTrace organization={organizationId} id={traceId} search={search} change={change} />;
}
