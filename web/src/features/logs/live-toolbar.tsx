import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import type { LiveState } from "./use-live-tail.ts";

type LiveProps = { live: LiveState; isPaused: boolean; onPause: (isPaused: boolean) => void };

/** The status of the live tail. */
export function LiveToolbar({ live, isPaused, onPause }: LiveProps): ReactNode {
  const { status, waiting, skipped, error, rows } = live;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-accent-soft/50 px-3 py-1 text-sm">
      <span role="status" className="flex items-center gap-2">
        <span
          className={`size-2 rounded-full ${status === "open" && !isPaused ? "animate-pulse bg-accent" : "bg-faint"}`}
        />
        {status === "failed" ? "Stopped" : status === "connecting" ? "Connecting…" : isPaused ? "Paused" : "Live"}
      </span>
      <span className="text-muted">{formatInteger(rows.length)} arrived</span>
      {isPaused && waiting > 0 && <span className="text-accent">{formatInteger(waiting)} new</span>}
      {skipped !== 0 && (
        <span className="text-warn" title="More spans arrived than the page can show. The list has all of them.">
          {skipped === null ? "some" : formatInteger(skipped)} skipped
        </span>
      )}
      <Button size="sm" icon={isPaused ? "play" : "pause"} className="ml-auto" onClick={() => onPause(!isPaused)}>
        {isPaused ? "Go on" : "Pause"}
      </Button>
      {error !== undefined && <ErrorPanel error={error} />}
    </div>
  );
}
