import type { InputHTMLAttributes, ReactNode } from "react";
import { cx } from "./cx.ts";

type CheckboxProps = Omit<InputHTMLAttributes<HTMLInputElement>, "type" | "onChange"> & {
  onCheckedChange: (checked: boolean) => void;
  /** Some, but not all, of the items it stands for are selected. */
  isMixed?: boolean;
};

export function Checkbox({ onCheckedChange, isMixed = false, className, ...rest }: CheckboxProps): ReactNode {
  return (
    <input
      {...rest}
      type="checkbox"
      ref={(element) => {
        if (element !== null) element.indeterminate = isMixed;
      }}
      onChange={(event) => onCheckedChange(event.target.checked)}
      className={cx("size-3.5 shrink-0 cursor-pointer accent-(--accent)", className)}
    />
  );
}
