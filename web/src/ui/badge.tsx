import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "error" | "info";

const tones: Record<Tone, string> = {
  neutral: "bg-raised text-muted",
  accent: "bg-accent-soft text-accent",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  error: "bg-error-soft text-error",
  info: "bg-info-soft text-info",
};

export function Badge({
  tone = "neutral",
  title,
  className,
  children,
}: {
  tone?: Tone;
  title?: string | undefined;
  className?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <span
      title={title}
      className={cx(
        "inline-flex h-[18px] max-w-full items-center gap-1 truncate rounded-sm px-1.5 text-xs font-medium whitespace-nowrap",
        tones[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

const dots: Record<Tone, string> = {
  neutral: "bg-faint",
  accent: "bg-accent",
  ok: "bg-ok",
  warn: "bg-warn",
  error: "bg-error",
  info: "bg-info",
};

/** A coloured dot for a state; the label says the same. */
export function Dot({ tone, label }: { tone: Tone; label?: string }): ReactNode {
  return (
    <span
      className={cx("inline-block size-2 shrink-0 rounded-full", dots[tone])}
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label, title: label })}
    />
  );
}
