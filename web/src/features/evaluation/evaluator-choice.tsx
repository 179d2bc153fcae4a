import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import type { AutomationFieldsProps } from "./automation-fields.tsx";
import { kindLabels } from "./labels.ts";
import { useEvaluatorPage } from "./queries.ts";

/** The most evaluators that an organization may have. */
const evaluatorsMax = 1000;

/** The evaluators to run. Human evaluators are not offered: they do not run by themselves. */
export function EvaluatorChoice({ draft, problems, onChange }: AutomationFieldsProps): ReactNode {
  const evaluators = useEvaluatorPage(1, evaluatorsMax);
  const error = problems["evaluator_ids"];
  const isChosen = (id: string) => draft.evaluators.includes(id);
  const offered = evaluators.data?.results.filter(({ id, type }) => type !== "human" || isChosen(id));
  const toggle = (id: string) =>
    onChange({ evaluators: isChosen(id) ? draft.evaluators.filter((each) => each !== id) : [...draft.evaluators, id] });
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-sm font-medium text-muted">Evaluators</legend>
      {evaluators.error !== null ? (
        <ErrorPanel error={evaluators.error} onRetry={() => void evaluators.refetch()} />
      ) : offered === undefined ? (
        <SkeletonRows rows={2} />
      ) : offered.length === 0 ? (
        <p className="text-sm text-muted">
          There is no automatic evaluator yet.{" "}
          <Link to="/evaluation" search={{ evaluator: "new" }} className="text-accent underline">
            Make an evaluator
          </Link>
        </p>
      ) : (
        <ul className="max-h-56 overflow-auto rounded-md border border-line-strong">
          {offered.map(({ id, name, type }) => (
            <li key={id} className="border-b border-line last:border-b-0">
              <label className="flex min-h-row items-center gap-2 px-2 hover:bg-raised">
                <Checkbox checked={isChosen(id)} onCheckedChange={() => toggle(id)} />
                <span className="min-w-0 flex-1 truncate">{visibleLine(name)}</span>
                <span className="text-xs text-faint">{kindLabels[type]}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && (
        <p role="alert" className="text-xs text-error">
          {error.join(" ")}
        </p>
      )}
    </fieldset>
  );
}
