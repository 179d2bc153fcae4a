import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ProvidersPage } from "../features/providers/providers-page.tsx";

const route = getRouteApi("/shell/providers");

export function ProvidersScreen(): ReactNode {
  const search = route.useSearch();
  const navigate = useNavigate();
  return (
    <ProvidersPage
      search={search}
      onSearch={(change) =>
        void navigate({ to: "/providers", search: { ...search, ...change }, replace: change.try === undefined })
      }
    />
  );
}
