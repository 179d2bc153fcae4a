import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import type { EvaluationTab } from "./search.ts";

type PageProps = {
  tab: EvaluationTab;
  /** The URL of the list. */
  back: string;
  /** The role does not permit creating one. */
  isForbidden: boolean;
  query: { error: Error | null; refetch: () => Promise<unknown> };
  /** Empty until the record is loaded. */
  children: ReactNode;
};

/** The page of a record in a tab, with a link back to the list. */
export function RecordPage({ tab, back, isForbidden, query, children }: PageProps): ReactNode {
  return (
    <div className="flex flex-col gap-3">
      <Link to="/evaluation" search={{ tab }} className="self-start text-sm text-muted hover:text-accent">
        ← {back}
      </Link>
      {isForbidden ? (
        <p className="text-muted">Your role does not permit this.</p>
      ) : (
        (children ??
        (query.error === null ? (
          <SkeletonRows rows={8} />
        ) : (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        )))
      )}
    </div>
  );
}
