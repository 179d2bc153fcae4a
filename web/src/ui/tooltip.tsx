import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx.ts";
import { floating } from "./floating.ts";

/** Text on hover and focus. For plain text a `title` is enough; nothing may be reachable only through it. */
export function Tooltip({ content, children }: { content: ReactNode; children: ReactElement }): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} collisionPadding={8} className="z-50">
          <Base.Popup className={cx(floating, "max-w-80 px-2 py-1 text-sm")}>{content}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
