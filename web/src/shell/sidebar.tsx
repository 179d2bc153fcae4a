import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe } from "../api/use-me.ts";
import { IconButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Brand } from "../ui/brand.tsx";
import { Icon } from "../ui/icon.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { screens } from "./screens.ts";

const AccountMenu = lazyPart(
  async () => (await import("./account-menu.tsx")).AccountMenu,
  () => <Skeleton className="h-9" />,
);

/** Screens and the account. If narrow, it shows only icons. */
export function Sidebar({
  isNarrow = false,
  onNarrow,
  onNavigate,
}: {
  isNarrow?: boolean;
  onNarrow?: (isNarrow: boolean) => void;
  onNavigate?: () => void;
}): ReactNode {
  const organization = useMe().data?.organization;
  return (
    <div className={cx("flex h-full flex-col border-r border-line bg-panel", isNarrow ? "w-12" : "w-sidebar")}>
      <div className={cx("flex h-bar shrink-0 items-center", isNarrow ? "justify-center" : "gap-2 pr-1.5 pl-3")}>
        {!isNarrow && (
          <div className="min-w-0 flex-1">
            <Brand />
          </div>
        )}
        {onNarrow !== undefined && (
          <IconButton
            icon="panel"
            label={isNarrow ? "Widen the sidebar" : "Narrow the sidebar"}
            onClick={() => onNarrow(!isNarrow)}
          />
        )}
      </div>
      <nav aria-label="Screens" className="min-h-0 flex-1 overflow-y-auto px-1.5 py-1">
        {screens.map(({ label, to, icon, startsGroup }) => (
          <Link
            key={label}
            to={to}
            activeOptions={{ exact: to === "/", includeSearch: false }}
            onClick={onNavigate}
            title={isNarrow ? label : undefined}
            className={cx(
              "flex h-7 items-center gap-2.5 rounded-md text-muted hover:bg-raised hover:text-text",
              "data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent",
              isNarrow ? "justify-center" : "px-2",
              startsGroup === true && "mt-3",
            )}
          >
            <Icon name={icon} />
            <span className={isNarrow ? "sr-only" : "truncate"}>{label}</span>
          </Link>
        ))}
      </nav>
      <div className="border-t border-line p-1.5">
        {!isNarrow && (
          <p className="truncate px-2 pb-1 text-xs text-faint" title={organization?.unique_organization_id}>
            {organization?.name}
          </p>
        )}
        <AccountMenu isNarrow={isNarrow} />
      </div>
    </div>
  );
}
