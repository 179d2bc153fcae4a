import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWindow } from "../charts/use-window.ts";
import { CustomersPage } from "../features/customers/customers-page.tsx";

const route = getRouteApi("/shell/customers");

export function CustomersScreen(): ReactNode {
  return <CustomersPage window={useWindow()} search={route.useSearch()} />;
}
