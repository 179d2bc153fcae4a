import { Link } from "@tanstack/react-router";
import { memo, useState, type ReactNode } from "react";
import { unknownCostText } from "../../lib/known-cost.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon } from "../../ui/icon.tsx";
import { Cost, Count, Duration, Time } from "../../ui/value.tsx";
import { MessageView } from "../messages/message-view.tsx";
import type { Turn } from "./turns.ts";

/** The messages that the user wrote and saw; on demand also those in between. */
export const TurnView = memo(function TurnView({ turn, number }: { turn: Turn; number: number }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const { messages, seen, error } = turn;
  const isFolded =
    messages.length > seen.length || messages.some((message, at) => message.parts.length !== seen[at]?.parts.length);
  return (
    <section aria-label={`Turn ${number}`} className="border-b border-line">
      <TurnHeader turn={turn} number={number} />
      {(isWhole ? messages : seen).map((message) => (
        <MessageView key={message.place} message={message} />
      ))}
      {messages.length === 0 && <p className="px-3 py-2 text-muted">No message is new in this turn.</p>}
      {error !== undefined && (
        <p className="bg-error-soft px-3 py-1 text-sm text-error [overflow-wrap:anywhere]">
          {visibleLine(error.slice(0, 500))}
        </p>
      )}
      {isFolded && (
        <button
          type="button"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
          className="flex h-7 w-full items-center gap-1.5 px-3 text-left text-xs text-muted hover:bg-raised"
        >
          <Icon name={isWhole ? "chevronUp" : "chevronDown"} size={12} />
          {isWhole ? "Only what the user saw" : "Instructions, thoughts and tools of this turn"}
        </button>
      )}
    </section>
  );
});

function TurnHeader({ turn, number }: { turn: Turn; number: number }): ReactNode {
  const { trace, spanId, startedAt, seconds, models, cost, unpricedCount, tokens, isFailed, spanCount } = turn;
  return (
    <header className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 bg-bg px-3 py-1 text-xs text-muted">
      <span className="font-semibold text-text">Turn {number}</span>
      {isFailed && <span className="text-error">failed</span>}
      <Time at={startedAt} />
      <Duration seconds={seconds} />
      <span className="truncate font-mono">{visibleLine(models.join(", "))}</span>
      <span className="ml-auto flex gap-x-4">
        <span title={unpricedCount > 0 ? unknownCostText(unpricedCount) : undefined}>
          <Cost usd={cost} why={unpricedCount > 0 ? unknownCostText(unpricedCount) : "The turn called no model."} />
          {cost !== undefined && unpricedCount > 0 && <span className="text-warn"> +{unpricedCount} unknown</span>}
        </span>
        <span>
          <Count value={tokens} /> tokens
        </span>
        {trace === undefined ? (
          <Link to="/spans/$spanId" params={{ spanId }} className="text-accent hover:underline">
            Span
          </Link>
        ) : (
          <Link to="/traces/$traceId" params={{ traceId: trace }} className="text-accent hover:underline">
            Trace of {spanCount} {spanCount === 1 ? "span" : "spans"}
          </Link>
        )}
      </span>
    </header>
  );
}
