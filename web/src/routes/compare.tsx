import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ComparePage } from "../features/spans/compare-page.tsx";
import { readIds, writeIds } from "../features/spans/search.ts";

const route = getRouteApi("/shell/compare");

export function CompareScreen(): ReactNode {
  const { spans } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ComparePage
      ids={readIds(spans)}
      onIds={(ids) => void navigate({ search: (previous) => ({ ...previous, spans: writeIds(ids) }), replace: true })}
    />
  );
}
