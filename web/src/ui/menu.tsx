import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx.ts";
import { Icon, type IconName } from "./icon.tsx";
import { floating } from "./floating.ts";

export type MenuItem =
  | {
      label: string;
      onSelect: () => void;
      icon?: IconName | undefined;
      /** Checked among its neighbours. */
      isChecked?: boolean;
      isDanger?: boolean;
      disabled?: boolean;
      /** Shown at the right: a shortcut, a count. */
      hint?: ReactNode;
    }
  | { heading: string }
  | "separator";

export function Menu({
  trigger,
  items,
  align = "start",
  side = "bottom",
}: {
  /** A button. */
  trigger: ReactElement;
  items: readonly MenuItem[];
  align?: "start" | "center" | "end";
  side?: "top" | "bottom" | "left" | "right";
}): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={4} collisionPadding={8} className="z-50">
          <Base.Popup className={cx(floating, "max-h-(--available-height) min-w-40 overflow-auto p-1")}>
            {items.map((item, at) => (
              // Items have no identity but their place.
              // oxlint-disable-next-line react/no-array-index-key
              <Item key={at} item={item} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Item({ item }: { item: MenuItem }): ReactNode {
  if (item === "separator") return <Base.Separator className="-mx-1 my-1 border-t border-line" />;
  if ("heading" in item) return <div className="px-2 pt-1 pb-0.5 text-xs text-faint">{item.heading}</div>;
  return (
    <Base.Item
      onClick={item.onSelect}
      disabled={item.disabled === true}
      className={cx(
        "flex h-7 cursor-default items-center gap-2 rounded-sm px-2 outline-none select-none",
        "data-[disabled]:opacity-50 data-[highlighted]:bg-raised",
        item.isDanger === true && "text-error",
      )}
    >
      {item.isChecked !== undefined && (
        <Icon name="check" size={12} className={item.isChecked ? "text-accent" : "invisible"} />
      )}
      {item.icon !== undefined && <Icon name={item.icon} size={14} className="text-faint" />}
      <span className="min-w-0 flex-1 truncate">{item.label}</span>
      {item.hint !== undefined && <span className="pl-3 text-xs text-faint">{item.hint}</span>}
    </Base.Item>
  );
}
