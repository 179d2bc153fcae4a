import type { ReactNode } from "react";
import { ErrorPanel } from "../ui/error-panel.tsx";

/** In the place of a chart or a table that could not be loaded, as high as it. */
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
