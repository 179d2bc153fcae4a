import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { presets, type Preset } from "../../lib/range.ts";
import { formatAgo, formatExactTime } from "../../lib/time.ts";

/** Says that the window is empty, and links to one that is not. */
export function EmptyWindow({ newest, window, query }: { newest: string; window: Window; query: string }): ReactNode {
  const preset = presetWith(newest, Date.now());
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 rounded-md border border-line bg-panel px-3 py-2">
      {query === "" ? (
        <>
          <span>No spans in this window.</span>
          <span className="text-muted" title={formatExactTime(newest, window.zone)}>
            The newest one ended {formatAgo(newest)}.
          </span>
        </>
      ) : (
        <span>No spans in this window match the query.</span>
      )}
      {query !== "" ? (
        <Link to="/" search={{}} className="text-accent hover:underline">
          Clear the query
        </Link>
      ) : (
        preset !== undefined && (
          <Link
            to="/"
            search={{ range: preset, from: undefined, to: undefined }}
            className="text-accent hover:underline"
          >
            Show the last {preset}
          </Link>
        )
      )}
    </p>
  );
}

/** The shortest preset that contains a time. */
function presetWith(moment: string, nowMs: number): Preset | undefined {
  const ageS = (nowMs - Date.parse(moment)) / 1000;
  return (Object.keys(presets) as Preset[]).find((name) => ageS >= 0 && ageS < presets[name]);
}
