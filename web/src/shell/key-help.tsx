import { useContext, useState, type ReactNode } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { KeyContext } from "../ui/keys.ts";

/** The keyboard shortcuts of the current screen. */
export function KeyHelp({ onClose }: { onClose: () => void }): ReactNode {
  const registry = useContext(KeyContext);
  const [bindings] = useState(() => (registry?.all() ?? []).filter(({ label }) => label !== undefined));
  return (
    <Dialog open onOpenChange={onClose} title="Keys" size="sm">
      <ul className="flex flex-col">
        {bindings.map(({ keys, label }) => (
          <li key={keys} className="flex h-row items-center justify-between gap-4">
            <span className="text-muted">{label}</span>
            <Kbd keys={keys} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
