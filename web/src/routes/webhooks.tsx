import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { WebhooksPage } from "../features/webhooks/webhooks-page.tsx";

const route = getRouteApi("/shell/webhooks");

export function WebhooksScreen(): ReactNode {
  const { webhook } = route.useSearch();
  const navigate = useNavigate();
  return <WebhooksPage opened={webhook} onOpen={(id) => void navigate({ to: "/webhooks", search: { webhook: id } })} />;
}
