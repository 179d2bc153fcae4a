import type { ReactNode } from "react";

/** One figure of a trace below its label. */
export function Figure({
  label,
  title,
  children,
}: {
  label: string;
  title?: string | undefined;
  children: ReactNode;
}): ReactNode {
  return (
    <div className="min-w-0 shrink-0" title={title}>
      <dt className="text-2xs text-faint uppercase tracking-wide">{label}</dt>
      <dd className="max-w-52 truncate">{children}</dd>
    </div>
  );
}
