import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { defaultPreset, windowOf, type Preset } from "../lib/range.ts";

/**
 * The time window in the URL. The ends of a preset are those at the time it was chosen; `preset` is set if the window
 * moves.
 */
export function useRange(): { start: string; end: string; preset: Preset | undefined } {
  const { range, from, to } = useSearch({ strict: false });
  return useMemo(() => {
    const isFixed = from !== undefined && to !== undefined;
    return { ...windowOf({ range, from, to }), preset: isFixed ? undefined : (range ?? defaultPreset) };
  }, [range, from, to]);
}
