import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWindow } from "../charts/use-window.ts";
import { CustomerPage } from "../features/customers/customer-page.tsx";

const route = getRouteApi("/shell/customers/$customerId");

export function CustomerScreen(): ReactNode {
  const { customerId } = route.useParams();
  const { view } = route.useSearch();
  return <CustomerPage key={customerId} customerId={customerId} window={useWindow()} isTable={view === "table"} />;
}
