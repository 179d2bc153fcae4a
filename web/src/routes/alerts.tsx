import type { ReactNode } from "react";
import { AlertsPage } from "../features/alerts/alerts-page.tsx";

export function AlertsScreen(): ReactNode {
  return <AlertsPage />;
}
