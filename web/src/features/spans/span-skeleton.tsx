import type { ReactNode } from "react";
import { IconButton } from "../../ui/button.tsx";

/** The placeholder of a span while it loads. */
export function SpanSkeleton({ onClose }: { onClose: (() => void) | undefined }): ReactNode {
  return (
    <div aria-busy aria-label="Loading the span" className="flex animate-pulse flex-col gap-3 p-3">
      <div className="flex items-center gap-2">
        <div className="h-5 w-48 rounded-sm bg-raised" />
        {onClose !== undefined && <IconButton icon="close" label="Close (Esc)" onClick={onClose} className="ml-auto" />}
      </div>
      <div className="h-4 w-72 max-w-full rounded-sm bg-raised" />
      <div className="h-px bg-line" />
      {["w-2/3", "w-5/6", "w-1/2", "w-3/4"].map((width) => (
        <div key={width} className={`h-10 rounded-sm bg-raised ${width}`} />
      ))}
    </div>
  );
}
