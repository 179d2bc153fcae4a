import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Sidebar } from "./sidebar.tsx";

/** The sidebar on narrow screens. */
export function Drawer({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-50 bg-backdrop" />
        <Dialog.Popup aria-label="Screens" className="fixed inset-y-0 left-0 z-50 outline-none">
          <Sidebar onNavigate={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
