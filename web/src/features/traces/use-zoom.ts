import { useEffect, useMemo, useRef, useState } from "react";
import { clampWindow, formatZoom, isWhole, parseZoom, type TimeWindow, type TraceBounds } from "./model/axis.ts";
import type { ChangeSearch } from "./search.ts";

export type Zoom = {
  window: TimeWindow;
  isWhole: boolean;
  /** Shows a window immediately; the URL follows once it is stable. */
  show: (window: TimeWindow) => void;
  reset: () => void;
};

const settleMs = 250;

/** The visible time range: that of the URL, except during a change. */
export function useZoom(bounds: TraceBounds, zoom: string | undefined, change: ChangeSearch): Zoom {
  const [draft, setDraft] = useState<TimeWindow>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const changeNow = useRef(change);
  changeNow.current = change;
  const window = useMemo(
    () => clampWindow(draft ?? parseZoom(zoom) ?? { from: 0, to: bounds.lengthMs }, bounds),
    [draft, zoom, bounds],
  );
  useEffect(() => setDraft(undefined), [zoom]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const commit = (next: TimeWindow) => {
    const text = isWhole(next, bounds) ? undefined : formatZoom(next);
    setDraft(undefined);
    changeNow.current({ zoom: text }, { replace: true });
  };
  return {
    window,
    isWhole: isWhole(window, bounds),
    show(next) {
      const zoomed = clampWindow(next, bounds);
      setDraft(zoomed);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => commit(zoomed), settleMs);
    },
    reset() {
      clearTimeout(timer.current);
      commit({ from: 0, to: bounds.lengthMs });
    },
  };
}
