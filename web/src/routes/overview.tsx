import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWindow } from "../charts/use-window.ts";
import { OverviewPage } from "../features/overview/overview-page.tsx";

const route = getRouteApi("/shell/");

export function OverviewScreen(): ReactNode {
  const search = route.useSearch();
  return <OverviewPage window={useWindow()} search={search} />;
}
