import type { ReactNode } from "react";
import { Skeleton, SkeletonRows } from "../../../ui/skeleton.tsx";

/** The placeholder of a trace while it loads. */
export function TraceSkeleton(): ReactNode {
  return (
    <div className="flex flex-col gap-3 p-4">
      <Skeleton className="h-5 w-64" />
      <div className="flex gap-6">
        {["cost", "duration", "tokens", "spans", "errors"].map((figure) => (
          <Skeleton key={figure} className="h-8 w-16" />
        ))}
      </div>
      <SkeletonRows rows={16} />
    </div>
  );
}
