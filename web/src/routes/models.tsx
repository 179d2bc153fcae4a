import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ModelsPage } from "../features/models/models-page.tsx";

const route = getRouteApi("/shell/catalogue");

export function ModelsScreen(): ReactNode {
  const search = route.useSearch();
  const navigate = useNavigate();
  return (
    <ModelsPage
      search={search}
      onSearch={(change) =>
        void navigate({
          to: "/catalogue",
          search: { ...search, page: undefined, ...change },
          replace: "find" in change,
        })
      }
    />
  );
}
