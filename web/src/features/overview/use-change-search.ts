import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { OverviewSearch } from "./search.ts";

const route = getRouteApi("/shell/");

type Change = OverviewSearch & { range?: undefined; from?: string; to?: string };

/** Changes some URL parameters of the screen and keeps the others. */
export function useChangeSearch() {
  const search = route.useSearch();
  const navigate = useNavigate();
  return useCallback(
    (change: Change, { replace = false }: { replace?: boolean } = {}) =>
      void navigate({ to: "/", search: { ...search, ...change }, replace }),
    [navigate, search],
  );
}
