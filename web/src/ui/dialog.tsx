import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Button, IconButton } from "./button.tsx";
import { cx } from "./cx.ts";

const widths = { sm: "max-w-[400px]", md: "max-w-[560px]", lg: "max-w-[820px]" };

type DialogProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  size?: keyof typeof widths;
  /** Buttons, at the right. */
  footer?: ReactNode;
  /** Cannot be dismissed: no close button, no Escape, no click outside. */
  isBlocking?: boolean;
  children?: ReactNode;
};

/** A modal dialog; the page behind it keeps its input. The focus stays inside and returns afterwards. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  size = "md",
  footer,
  isBlocking = false,
  children,
}: DialogProps): ReactNode {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next || !isBlocking) && onOpenChange(next)}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-backdrop" />
        <Base.Popup
          className={cx(
            "fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[calc(100vw-24px)] -translate-x-1/2 flex-col",
            "rounded-lg border border-line-strong bg-panel outline-none",
            widths[size],
          )}
        >
          <header className="flex items-start gap-2 border-b border-line py-2.5 pr-2 pl-4">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description className="text-sm text-muted">{description}</Base.Description>
              )}
            </div>
            {!isBlocking && <IconButton icon="close" label="Close" onClick={() => onOpenChange(false)} />}
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>
          {footer !== undefined && (
            <footer className="flex justify-end gap-2 border-t border-line px-4 py-2.5">{footer}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Asks for confirmation before something that cannot be undone. */
export function ConfirmDialog({
  action,
  isBusy = false,
  onConfirm,
  onOpenChange,
  error,
  ...rest
}: Omit<DialogProps, "footer" | "size"> & {
  /** The label of the button: a verb, such as "Delete trace". */
  action: string;
  isBusy?: boolean;
  onConfirm: () => void;
  error?: ReactNode;
}): ReactNode {
  return (
    <Dialog
      {...rest}
      size="sm"
      onOpenChange={onOpenChange}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button variant="danger" isBusy={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {rest.children}
      {error}
    </Dialog>
  );
}
