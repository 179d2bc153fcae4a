import "./charts.css";
import type { ReactNode } from "react";

/** @param color the name of a CSS variable */
export function Swatch({ color, isHidden = false }: { color: string; isHidden?: boolean }): ReactNode {
  return (
    <span
      aria-hidden
      className="inline-block size-2 shrink-0 rounded-[2px]"
      style={isHidden ? { boxShadow: `inset 0 0 0 1px var(${color})` } : { background: `var(${color})` }}
    />
  );
}
