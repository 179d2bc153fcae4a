import type { ReactNode } from "react";
import { cx } from "./cx.ts";
import { PanelBoundary } from "./error-panel.tsx";

/** A part of a screen with a header. A render error inside does not affect the rest. */
export function Panel({
  title,
  actions,
  className,
  children,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <section className={cx("min-w-0 overflow-hidden rounded-md border border-line bg-panel", className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex h-8 items-center gap-2 border-b border-line px-3">
          <h2 className="min-w-0 flex-1 truncate font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <PanelBoundary>{children}</PanelBoundary>
    </section>
  );
}
