import type { ReactNode } from "react";

/** Lies behind the name of a row, as long as its share of the largest one. */
export function ShareBar({ share, className }: { share: number; className: string }): ReactNode {
  return (
    <span
      aria-hidden
      className={`absolute inset-y-[3px] left-1 rounded-sm ${className}`}
      style={{ width: `calc(${100 * share}% - 8px)` }}
    />
  );
}
