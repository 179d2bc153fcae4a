import type { ReactNode } from "react";
import { formatExactCost, formatInteger } from "../../../lib/format.ts";
import { knownCost, unknownCostText, whyUnknownCost } from "../../../lib/known-cost.ts";
import { formatExactTime, formatTime, type TimeZone } from "../../../lib/time.ts";
import { markEdges } from "../../../ui/mark-edges.ts";
import { Cost, Count, Duration } from "../../../ui/value.tsx";
import type { TraceHeader } from "../model/trace-model.ts";
import { Figure } from "./figures.tsx";

/** The figures of a whole trace. */
export function TraceFigures({
  header,
  zone,
  children,
}: {
  header: TraceHeader;
  zone: TimeZone;
  children?: ReactNode;
}): ReactNode {
  const { unpriced_count: unpriced, error_count: errors } = header;
  return (
    <div ref={markEdges} className="faded-edges shrink-0 overflow-x-auto">
      <dl className="flex w-max min-w-full gap-x-6 px-4 pb-2 whitespace-nowrap">
        <Figure label="Cost" title={costTitle(header)}>
          <Cost usd={knownCost(header)} why={costTitle(header)} />
          {unpriced > 0 && <span className="ml-1.5 text-warn">{unknownCostText(unpriced)}</span>}
        </Figure>
        <Figure label="Duration" title="From the first start to the last end.">
          <Duration seconds={header.duration} />
        </Figure>
        <Figure
          label="Tokens"
          title={`${formatInteger(header.total_prompt_tokens)} in, ${formatInteger(header.total_completion_tokens)} out`}
        >
          <Count value={header.total_tokens} />
        </Figure>
        <Figure label="Spans" title={`${formatInteger(header.llm_call_count)} of them are model calls`}>
          <span className="figures">{formatInteger(header.span_count)}</span>
        </Figure>
        <Figure label="Errors">
          <span className={`figures ${errors > 0 ? "text-error" : ""}`}>{formatInteger(errors)}</span>
        </Figure>
        <Figure label="Started" title={formatExactTime(header.start_time, zone)}>
          <span className="figures">{formatTime(header.start_time, zone)}</span>
        </Figure>
        {children}
      </dl>
    </div>
  );
}

function costTitle({ total_cost: cost, unpriced_count: unpriced }: TraceHeader): string {
  const exact = formatExactCost(cost);
  if (unpriced === 0) return exact;
  return `${cost === 0 ? "" : `At least ${exact}. `}${whyUnknownCost}.`;
}
