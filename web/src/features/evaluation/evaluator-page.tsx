import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { EvaluatorEditor } from "./evaluator-editor.tsx";
import { useEvaluator } from "./queries.ts";

/** The evaluator with the id, or a new one. */
export function EvaluatorPage({ id }: { id: string }): ReactNode {
  const isNew = id === "new";
  // After a new evaluator is created, the same form stays open for it.
  const [madeId, setMadeId] = useState<string>();
  const canWrite = useCan("automations:write");
  const evaluator = useEvaluator(id, !isNew && id !== madeId);
  return (
    <div className="flex flex-col gap-3">
      <Link to="/evaluation" search={{}} className="self-start text-sm text-muted hover:text-accent">
        ← All evaluators
      </Link>
      {isNew && !canWrite ? (
        <p className="text-muted">Your role does not permit you to make evaluators.</p>
      ) : isNew || id === madeId ? (
        <EvaluatorEditor key="new" first={undefined} onMade={setMadeId} canWrite={canWrite} />
      ) : evaluator.data !== undefined ? (
        <EvaluatorEditor key={id} first={evaluator.data} onMade={setMadeId} canWrite={canWrite} />
      ) : evaluator.error !== null ? (
        <ErrorPanel error={evaluator.error} onRetry={() => void evaluator.refetch()} />
      ) : (
        <SkeletonRows rows={8} />
      )}
    </div>
  );
}
