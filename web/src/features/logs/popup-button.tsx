import { useState, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import type { IconName } from "../../ui/icon.tsx";
import { Popover } from "../../ui/popover.tsx";

type PopupProps = {
  icon: IconName;
  label: string;
  side?: "top" | "bottom";
  children: (close: () => void) => ReactNode;
};

/** A button that opens a small panel. Its label is hidden if its container, a toolbar, is narrow. */
export function PopupButton({ icon, label, side = "bottom", children }: PopupProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      open={isOpen}
      onOpenChange={setOpen}
      label={label}
      side={side}
      align="end"
      className="w-72 p-0!"
      trigger={
        <Button icon={icon} aria-label={label} title={label}>
          <span className="@max-4xl:hidden">{label}</span>
        </Button>
      }
    >
      {isOpen && children(() => setOpen(false))}
    </Popover>
  );
}
