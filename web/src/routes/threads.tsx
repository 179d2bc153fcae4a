import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWindow } from "../charts/use-window.ts";
import type { ThreadsSearch } from "../features/threads/search.ts";
import { ThreadsPage } from "../features/threads/threads-page.tsx";

const route = getRouteApi("/shell/threads");

export function ThreadsScreen(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = (change: ThreadsSearch): void =>
    void navigate({ search: (previous) => ({ ...previous, ...change }) });
  return <ThreadsPage window={useWindow()} search={search} onSearch={onSearch} />;
}
