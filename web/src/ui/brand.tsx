import type { ReactNode } from "react";

export function Brand(): ReactNode {
  return (
    <span className="inline-flex items-center gap-2 text-lg font-semibold">
      <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden>
        <rect width="16" height="16" rx="3.5" className="fill-accent" />
        <path d="M3 5h6M5.5 8h6M8 11h5" className="stroke-on-accent" strokeWidth="1.6" strokeLinecap="round" />
      </svg>
      Spanway
    </span>
  );
}
