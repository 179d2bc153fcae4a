import { useMatches, useNavigate } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { useEnvironment } from "../api/use-api.ts";
import { IconButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Icon } from "../ui/icon.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { useOverlays } from "./overlays.tsx";

/** Loaded after the screen: with its popovers it would be a third of the code of the first load. */
const RangePicker = lazyPart(
  async () => (await import("./range-picker.tsx")).RangePicker,
  () => <Skeleton className="h-7 w-32 max-md:w-16" />,
);

/** The screen's name, its time window if it has one, the environment, and the palette. */
export function TopBar({ onMenu }: { onMenu: () => void }): ReactNode {
  const { open } = useOverlays();
  const { title, hasRange } = useMatches({ select: (matches) => matches.at(-1)?.staticData }) ?? {};
  useEffect(() => {
    document.title = title === undefined ? "Spanway" : `${title} · Spanway`;
  }, [title]);
  return (
    <header className="flex h-bar shrink-0 items-center gap-1.5 border-b border-line bg-panel px-2 md:px-3">
      <IconButton icon="menu" label="Screens" className="md:hidden" onClick={onMenu} />
      <div className="min-w-0 flex-1 truncate font-semibold">{title}</div>
      <button
        type="button"
        onClick={() => open("palette")}
        className="flex h-7 items-center gap-2 rounded-md border border-line-strong px-2 text-muted hover:bg-raised max-md:border-transparent md:w-52"
      >
        <Icon name="search" size={14} />
        <span className="flex-1 text-left text-sm max-md:sr-only">Go to or find…</span>
        <span aria-hidden className="max-md:hidden">
          <Kbd keys="mod+k" />
        </span>
      </button>
      {hasRange === true && <RangePicker />}
      <EnvironmentSwitch />
    </header>
  );
}

function EnvironmentSwitch(): ReactNode {
  const environment = useEnvironment();
  const navigate = useNavigate();
  return (
    <div role="group" aria-label="Environment" className="flex shrink-0 rounded-md border border-line-strong p-px">
      {(["prod", "test"] as const).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={environment === each}
          onClick={() =>
            void navigate({
              to: ".",
              search: (search) => ({ ...search, env: each === "test" ? ("test" as const) : undefined }),
            })
          }
          className={cx(
            "h-6 rounded-[5px] px-2 text-sm",
            environment !== each && "text-muted hover:text-text",
            environment === each && (each === "test" ? "bg-warn-soft font-medium text-warn" : "bg-raised font-medium"),
          )}
        >
          {each}
        </button>
      ))}
    </div>
  );
}
