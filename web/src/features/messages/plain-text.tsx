import type { ReactNode } from "react";
import { visibleText } from "../../lib/visible-text.ts";

/** Text with its line breaks, and with invisible characters made visible. */
export function PlainText({ text, isMono = false }: { text: string; isMono?: boolean }): ReactNode {
  return (
    <div dir="auto" className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${isMono ? "font-mono text-sm" : ""}`}>
      {visibleText(text)}
    </div>
  );
}
