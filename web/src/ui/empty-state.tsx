import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

/** Explains why there is nothing, and what to do about it. */
export function EmptyState({
  icon = "search",
  title,
  action,
  children,
}: {
  icon?: IconName;
  title: string;
  action?: ReactNode;
  children?: ReactNode;
}): ReactNode {
  return (
    <div className="flex flex-col items-center gap-1 px-4 py-8 text-center">
      <Icon name={icon} size={20} className="mb-1 text-faint" />
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-[56ch] text-sm text-muted">{children}</div>}
      {action !== undefined && <div className="mt-2 flex gap-2">{action}</div>}
    </div>
  );
}
