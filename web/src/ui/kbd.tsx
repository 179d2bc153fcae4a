import type { ReactNode } from "react";

const isMac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);

const names: Readonly<Record<string, string>> = {
  mod: isMac ? "⌘" : "Ctrl",
  shift: "⇧",
  enter: "↵",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
};

/** Keys in the notation of `useKeys`: `mod+k`, `g l`. */
export function Kbd({ keys }: { keys: string }): ReactNode {
  return (
    <span className="inline-flex gap-0.5">
      {keys.split(/[+ ]/).map((key) => (
        <kbd
          key={key}
          className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-sm border border-line-strong bg-raised px-1 font-sans text-2xs text-muted"
        >
          {names[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)}
        </kbd>
      ))}
    </span>
  );
}
