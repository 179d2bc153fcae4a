import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AlertPage } from "../features/alerts/alert-page.tsx";

const route = getRouteApi("/shell/alerts/$alertId");

export function AlertScreen(): ReactNode {
  const { alertId } = route.useParams();
  return <AlertPage key={alertId} alertId={alertId} />;
}
