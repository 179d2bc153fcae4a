import type { ReactNode } from "react";
import { Icon } from "../../../ui/icon.tsx";
import { kindColor, kindStyle } from "../kinds.ts";

/** The kind of a span as a small icon in its colour. */
export function KindMark({ kind }: { kind: string }): ReactNode {
  return (
    <span className="flex" style={{ color: kindColor(kind) }}>
      <Icon name={kindStyle(kind).icon} size={14} />
    </span>
  );
}
