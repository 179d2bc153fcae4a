import type { ReactNode } from "react";

/** A bar behind the name of a row, sized by its share of the largest row. */
export function ShareBar({ share, className }: { share: number; className: string }): ReactNode {
  return (
    <span
      aria-hidden
      className={`absolute inset-y-[3px] left-1 rounded-sm ${className}`}
      style={{ width: `calc(${100 * share}% - 8px)` }}
    />
  );
}
