import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { defaultPreset, windowOf, type Preset } from "../lib/range.ts";

/** The window of time in the URL. Of a preset the ends are those of when it was chosen; `preset` says that it moves. */
export function useRange(): { start: string; end: string; preset: Preset | undefined } {
  const { range, from, to } = useSearch({ strict: false });
  return useMemo(() => {
    const isFixed = from !== undefined && to !== undefined;
    return { ...windowOf({ range, from, to }), preset: isFixed ? undefined : (range ?? defaultPreset) };
  }, [range, from, to]);
}
