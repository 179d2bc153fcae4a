import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { cx } from "../ui/cx.ts";
import { PanelBoundary } from "../ui/error-panel.tsx";
import { useKeys } from "../ui/keys.ts";
import { lazyPart } from "../ui/lazy-part.tsx";
import { readStored, writeStored } from "../ui/theme.ts";
import { OverlaysProvider } from "./overlays.tsx";
import { screens } from "./screens.ts";
import { SessionGate } from "./session-gate.tsx";
import { Sidebar } from "./sidebar.tsx";
import { TopBar } from "./top-bar.tsx";
import { useScreensAhead } from "./use-screens-ahead.ts";

const Drawer = lazyPart(async () => (await import("./drawer.tsx")).Drawer);

const narrowStoredAs = "spanway.sidebar";

/** The frame around every screen. */
export function Shell(): ReactNode {
  return (
    <OverlaysProvider>
      <Frame />
    </OverlaysProvider>
  );
}

function Frame(): ReactNode {
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isNarrow, setNarrow] = useState(() => readStored(narrowStoredAs) === "narrow");
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  useScreensAhead();
  useKeys(
    screens.map(({ key, label, to }) => ({ keys: `g ${key}`, label, run: () => void navigate({ to } as { to: "/" }) })),
  );
  const narrow = (next: boolean): void => {
    setNarrow(next);
    writeStored(narrowStoredAs, next ? "narrow" : "wide");
  };
  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-60 focus:bg-panel focus:px-3 focus:py-1"
      >
        Skip to the content
      </a>
      <div className={cx("h-full shrink-0 max-md:hidden")}>
        <Sidebar isNarrow={isNarrow} onNarrow={narrow} />
      </div>
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar onMenu={() => setDrawerOpen(true)} />
        <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 overflow-auto outline-none">
          <SessionGate>
            <PanelBoundary key={path}>
              <Outlet />
            </PanelBoundary>
          </SessionGate>
        </main>
      </div>
      {isDrawerOpen && <Drawer onClose={() => setDrawerOpen(false)} />}
    </div>
  );
}
