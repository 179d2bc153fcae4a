import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Cost } from "../../ui/value.tsx";
import type { RunResult } from "./queries.ts";

/** The evaluator's result for the log. */
export function RunScore({ result }: { result: RunResult }): ReactNode {
  const { explanation, error_message, cost } = result;
  return (
    <section aria-label="Score" className="flex flex-col gap-1 rounded-md border border-line p-2">
      <div className="flex flex-wrap items-center gap-2">
        <ScoreMark score={result} />
        {cost !== null && (
          <span className="ml-auto text-muted">
            <Cost usd={cost} />
          </span>
        )}
      </div>
      {error_message !== null && <p className="text-error [overflow-wrap:anywhere]">{visibleLine(error_message)}</p>}
      {explanation !== null && explanation !== "" && (
        <p className="text-muted [overflow-wrap:anywhere]">{visibleLine(explanation.slice(0, 4000))}</p>
      )}
    </section>
  );
}

type Scored = Pick<
  RunResult,
  | "status"
  | "is_passed"
  | "score_value_type"
  | "numerical_value"
  | "boolean_value"
  | "categorical_value"
  | "string_value"
  | "json_value"
>;

/** The value of a score, and whether it passed. */
export function ScoreMark({ score }: { score: Scored }): ReactNode {
  const { status, is_passed: isPassed } = score;
  return (
    <>
      {status === "failed" ? (
        <Badge tone="error">failed</Badge>
      ) : (
        <strong className="figures min-w-0 [overflow-wrap:anywhere]">
          {visibleLine(valueOf(score).slice(0, 1000))}
        </strong>
      )}
      {isPassed !== null && (
        <Badge tone={isPassed ? "ok" : "error"} className="shrink-0">
          {isPassed ? "passed" : "not passed"}
        </Badge>
      )}
    </>
  );
}

function valueOf(result: Scored): string {
  if (result.numerical_value !== null) {
    return result.score_value_type === "percentage" ? `${result.numerical_value}%` : String(result.numerical_value);
  }
  if (result.boolean_value !== null) return String(result.boolean_value);
  return result.categorical_value?.join(", ") ?? result.string_value ?? result.json_value ?? "";
}
