import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { bodyOf, createApi } from "../../api/client.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { useTimeZone } from "../../ui/value.tsx";
import { parseTrace, type TraceBody } from "./parse-trace.ts";
import { SharedSpan } from "./parts/shared-span.tsx";
import { SidePanel } from "./parts/side-panel.tsx";
import { TraceFigures } from "./parts/trace-figures.tsx";
import { TraceSkeleton } from "./parts/trace-skeleton.tsx";
import { TraceTitle } from "./parts/trace-title.tsx";
import { Untrusted } from "./parts/untrusted.tsx";
import type { ChangeSearch, TraceSearch } from "./search.ts";
import { TraceView } from "./trace-view.tsx";

type SharedTraceProps = { organization: string; id: string; search: TraceSearch; change: ChangeSearch };

/** A trace for everybody with its link: it shows only the data of the public route. */
export function SharedTrace({ organization, id, search, change }: SharedTraceProps): ReactNode {
  const { data: model, error, refetch } = useSharedTrace(organization, id);
  const zone = useTimeZone();
  if (model === undefined) {
    if (error === null) return <TraceSkeleton />;
    const isNotFound = error instanceof ApiError && error.status === 404;
    if (!isNotFound) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
    return (
      <EmptyState icon="lock" title="Nothing is shared here">
        The trace is not shared, or not any more. Ask the person who sent you the link.
      </EmptyState>
    );
  }
  const { header } = model;
  return (
    <main className="relative flex h-full flex-col">
      <TraceTitle header={header}>
        <span className="ml-auto max-w-[45%] shrink-0 truncate text-muted">
          Shared by <Untrusted text={header.organization_name ?? "an organization"} />
        </span>
      </TraceTitle>
      <TraceFigures header={header} zone={zone} />
      <TraceView
        model={model}
        search={search}
        change={change}
        renderSpan={(index, close) => (
          <SidePanel label="Span">
            <SharedSpan model={model} index={index} zone={zone} onClose={close} />
          </SidePanel>
        )}
      />
    </main>
  );
}

function useSharedTrace(organization: string, id: string) {
  return useQuery({
    queryKey: ["shared-trace", organization, id],
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const params = { path: { unique_organization_id: organization, trace_unique_id: id } };
      const route = "/api/{unique_organization_id}/traces/{trace_unique_id}/";
      const answer = createApi("prod").GET(route, { params, signal, parseAs: "stream" });
      return await parseTrace(await bodyOf<TraceBody>(answer), signal);
    },
  });
}
