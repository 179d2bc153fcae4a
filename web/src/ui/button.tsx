import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { cx } from "./cx.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";

type Variant = "default" | "primary" | "ghost" | "danger";
type Size = "sm" | "md";

const styles: Record<Variant, string> = {
  default: "border-line-strong bg-panel hover:bg-raised",
  primary: "border-accent bg-accent text-on-accent hover:opacity-90",
  ghost: "border-transparent text-muted hover:bg-raised hover:text-text",
  danger: "border-error/50 bg-panel text-error hover:bg-error-soft",
};

const sizes: Record<Size, string> = { sm: "h-6 gap-1 px-1.5 text-sm", md: "h-7 gap-1.5 px-2.5" };

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  variant?: Variant;
  size?: Size;
  icon?: IconName | undefined;
  /** Shows progress and ignores further clicks. */
  isBusy?: boolean | undefined;
  ref?: Ref<HTMLButtonElement> | undefined;
};

export function Button({
  variant = "default",
  size = "md",
  icon,
  isBusy = false,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      className={cx(
        "inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none",
        "transition-colors disabled:cursor-not-allowed disabled:opacity-50 data-[popup-open]:bg-raised",
        styles[variant],
        sizes[size],
        className,
      )}
    >
      {isBusy ? <Spinner /> : icon !== undefined && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

type IconButtonProps = Omit<ButtonProps, "icon" | "children"> & { icon: IconName; label: string };

/** A button without text; `label` is its accessible name and tooltip. */
export function IconButton({
  icon,
  label,
  variant = "ghost",
  size = "md",
  className,
  ...rest
}: IconButtonProps): ReactNode {
  return (
    <Button
      {...rest}
      variant={variant}
      size={size}
      icon={icon}
      aria-label={label}
      title={label}
      className={cx(size === "sm" ? "w-6 !px-0" : "w-7 !px-0", className)}
    />
  );
}
