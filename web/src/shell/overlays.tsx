import { createContext, useContext, useMemo, useState, type ReactNode } from "react";
import { useKeys } from "../ui/keys.ts";
import { lazyPart } from "../ui/lazy-part.tsx";

type Overlay = "palette" | "keys";

type Overlays = { open: (overlay: Overlay) => void };

const OverlayContext = createContext<Overlays>({ open: () => undefined });

export function useOverlays(): Overlays {
  return useContext(OverlayContext);
}

const Palette = lazyPart(async () => (await import("./palette.tsx")).Palette);
const KeyHelp = lazyPart(async () => (await import("./key-help.tsx")).KeyHelp);

/** The palette and the list of shortcuts, available on any screen. Their code is loaded when they first open. */
export function OverlaysProvider({ children }: { children: ReactNode }): ReactNode {
  const [opened, setOpened] = useState<Overlay>();
  const overlays = useMemo<Overlays>(() => ({ open: setOpened }), []);
  const close = (): void => setOpened(undefined);
  useKeys([
    { keys: "mod+k", label: "Go to a screen, or find an id", inFields: true, run: () => setOpened("palette") },
    { keys: "?", label: "Show the keys", run: () => setOpened("keys") },
  ]);
  return (
    <OverlayContext value={overlays}>
      {children}
      {/* Once loaded they float; this shows only a failure to load their code. */}
      <div className="fixed inset-x-3 top-3 z-60 mx-auto max-w-md empty:hidden">
        {opened === "palette" && <Palette onClose={close} />}
        {opened === "keys" && <KeyHelp onClose={close} />}
      </div>
    </OverlayContext>
  );
}
