import type { KeyboardEvent, PointerEvent, ReactNode } from "react";

type DividerProps = {
  label: string;
  /** In pixels from the left edge of the parent, or from the right one. */
  value: number;
  isFromRight?: boolean;
  min: number;
  max: number;
  onChange: (value: number) => void;
  className?: string;
};

const stepPx = 24;

/** A draggable line between two parts of its parent, also moved with the arrow keys. */
export function Divider({ label, value, isFromRight = false, min, max, onChange, className }: DividerProps): ReactNode {
  const set = (next: number) => onChange(Math.round(Math.min(Math.max(next, min), max)));
  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const parent = event.currentTarget.parentElement?.getBoundingClientRect();
    if (parent !== undefined) set(isFromRight ? parent.right - event.clientX : event.clientX - parent.left);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowLeft" ? -stepPx : event.key === "ArrowRight" ? stepPx : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    set(isFromRight ? value - step : value + step);
  };
  return (
    // A separator that can be focused is a control, says ARIA.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={`absolute inset-y-0 z-20 w-[7px] -translate-x-1/2 cursor-col-resize touch-none after:absolute after:inset-y-0 after:left-[3px] after:w-px after:bg-line hover:after:bg-accent focus-visible:after:bg-accent ${className ?? ""}`}
      style={isFromRight ? { right: `calc(${value}px - 7px)` } : { left: value }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={move}
      onKeyDown={press}
    />
  );
}
