import { useCallback, useRef, useState, type ReactNode } from "react";
import type { Place } from "../../query-bar/complete.ts";
import { QueryBar } from "../../query-bar/query-bar.tsx";
import type { Window } from "../../charts/use-window.ts";
import { useKnownValues } from "../series/known-values.ts";
import { useChangeSearch } from "./use-change-search.ts";

/** The query that all figures of the screen are based on. */
export function QueryLine({ window, value }: { window: Window; value: string }): ReactNode {
  const change = useChangeSearch();
  const input = useRef<HTMLInputElement>(null);
  const [place, setPlace] = useState<Place>();
  const known = useKnownValues(window, place);
  const commit = useCallback((q: string) => change({ q: q === "" ? undefined : q }), [change]);
  return (
    <div className="flex">
      <QueryBar value={value} input={input} known={known} onPlace={setPlace} onCommit={commit} />
    </div>
  );
}
