import type { ReactNode, SelectHTMLAttributes } from "react";
import { cx } from "./cx.ts";
import { Icon } from "./icon.tsx";

export type SelectOption<T extends string> = { value: T; label: string; disabled?: boolean };

type SelectProps<T extends string> = Omit<SelectHTMLAttributes<HTMLSelectElement>, "value" | "onChange"> & {
  value: T;
  options: readonly SelectOption<T>[];
  onValueChange: (value: T) => void;
};

/** A native select: fast, and familiar on every device. */
export function Select<T extends string>({
  value,
  options,
  onValueChange,
  className,
  ...rest
}: SelectProps<T>): ReactNode {
  return (
    <span className={cx("relative inline-flex min-w-0", className)}>
      <select
        {...rest}
        value={value}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.target.value);
          if (chosen !== undefined) onValueChange(chosen.value);
        }}
        className="h-7 w-full min-w-0 cursor-pointer appearance-none truncate rounded-md border border-line-strong bg-panel pr-6 pl-2 hover:border-faint disabled:cursor-not-allowed disabled:opacity-50"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled === true}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="chevronDown" size={12} className="pointer-events-none absolute top-2 right-2 text-faint" />
    </span>
  );
}
