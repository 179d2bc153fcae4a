import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx.ts";
import { floating } from "./floating.ts";

export function Popover({
  trigger,
  label,
  open,
  onOpenChange,
  align = "start",
  side = "bottom",
  className,
  children,
}: {
  /** A button. */
  trigger: ReactElement;
  /** The accessible name. */
  label: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: "start" | "center" | "end";
  side?: "top" | "bottom" | "left" | "right";
  className?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <Base.Root
      {...(open !== undefined && { open })}
      {...(onOpenChange !== undefined && { onOpenChange: (next: boolean) => onOpenChange(next) })}
    >
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={4} collisionPadding={8} className="z-50">
          <Base.Popup
            aria-label={label}
            className={cx(
              floating,
              "max-h-(--available-height) max-w-(--available-width) overflow-auto p-3",
              className,
            )}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
