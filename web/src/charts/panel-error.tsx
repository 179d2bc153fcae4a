import type { ReactNode } from "react";
import { ErrorPanel } from "../ui/error-panel.tsx";

/** Replaces a chart or table that could not be loaded, at the same height. */
export function PanelError({
  error,
  onRetry,
  height,
}: {
  error: Error;
  onRetry: () => void;
  height: number;
}): ReactNode {
  return (
    <div className="overflow-auto" style={{ height }}>
      <ErrorPanel error={error} onRetry={onRetry} />
    </div>
  );
}
