import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** A placeholder while content loads; give it the size of the content. */
export function Skeleton({ className }: { className?: string }): ReactNode {
  return <div aria-hidden className={cx("animate-pulse rounded-sm bg-raised", className ?? "h-4 w-full")} />;
}

const widths = ["w-3/4", "w-1/2", "w-5/6", "w-2/3", "w-3/5"];

export function SkeletonRows({ rows = 6 }: { rows?: number }): ReactNode {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col">
      {Array.from({ length: rows }, (_none, at) => (
        <div key={at} className="flex h-row items-center gap-3 border-b border-line px-3 last:border-b-0">
          <Skeleton className={cx("h-2.5", widths[at % widths.length])} />
          <Skeleton className="ml-auto h-2.5 w-12" />
        </div>
      ))}
    </div>
  );
}
