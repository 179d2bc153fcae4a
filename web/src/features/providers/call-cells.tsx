import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { formatCount, formatInteger } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import type { Term } from "../../query-bar/query.ts";
import { Cell } from "../../ui/table.tsx";
import { Unknown } from "../../ui/value.tsx";
import { termsOfGroup, withTerms } from "../series/rows-behind.ts";
import { failedTerm } from "../series/terms.ts";
import type { Calls, Failure } from "./calls.ts";

type CellsProps = {
  provider: string;
  /** Undefined until loaded; the same holds for failures. */
  calls: ReadonlyMap<string, Calls> | undefined;
  failures: ReadonlyMap<string, Failure> | undefined;
};

/** The calls of a provider in the last 24 hours; each figure links to its spans. */
export function CallCells({ provider, calls, failures }: CellsProps): ReactNode {
  const { count, failed } = calls?.get(provider) ?? { count: 0, failed: 0 };
  const terms = termsOfGroup({ provider_id: provider });
  const isKnown = calls !== undefined;
  return (
    <>
      <Cell isNumber className="max-md:hidden">
        {isKnown ? <Spans value={count} terms={terms} /> : notYet}
      </Cell>
      <Cell isNumber>{isKnown ? <Spans value={failed} terms={[...terms, failedTerm]} isBad /> : notYet}</Cell>
      <Cell className="w-1/2 max-w-0 text-muted max-md:hidden">
        {failed > 0 && <LastFailure failure={failures?.get(provider)} />}
      </Cell>
    </>
  );
}

const notYet = <Unknown why="It is being counted" />;

function LastFailure({ failure }: { failure: Failure | undefined }): ReactNode {
  if (failure === undefined) return <Unknown why="It is not among the last hundred failures" />;
  const message = visibleLine(failure.message) || "It says nothing of why";
  return (
    <Link
      to="/spans/$spanId"
      params={{ spanId: failure.spanId }}
      title={message}
      className="block truncate hover:text-accent"
    >
      {message}
    </Link>
  );
}

/** A count that links to its spans. */
function Spans({ value, terms, isBad = false }: { value: number; terms: readonly Term[]; isBad?: boolean }): ReactNode {
  if (value === 0) return <span className="text-faint">0</span>;
  return (
    <Link
      to="/logs"
      search={{ range: "24h", q: withTerms(undefined, terms) }}
      title={formatInteger(value)}
      className={isBad ? "text-error hover:underline" : "hover:text-accent"}
    >
      {formatCount(value)}
    </Link>
  );
}
