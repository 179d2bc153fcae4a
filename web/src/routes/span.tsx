import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SpanPanel } from "../features/spans/span-panel.tsx";
import type { SpanTab } from "../features/spans/span-tabs.ts";

const route = getRouteApi("/shell/spans/$spanId");

export function SpanScreen(): ReactNode {
  const { spanId } = route.useParams();
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const onTab = (next: SpanTab): void =>
    void navigate({
      search: (previous) => ({ ...previous, tab: next === "conversation" ? undefined : next }),
      replace: true,
    });
  return (
    <div className="mx-auto h-full max-w-5xl border-line lg:border-x">
      <SpanPanel id={spanId} tab={tab} onTab={onTab} />
    </div>
  );
}
