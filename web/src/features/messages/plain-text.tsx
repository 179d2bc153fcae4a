import type { ReactNode } from "react";
import { visibleText } from "../../lib/visible-text.ts";

/** Text as it was said, with its line breaks, and with what would be invisible in it. */
export function PlainText({ text, isMono = false }: { text: string; isMono?: boolean }): ReactNode {
  return (
    <div dir="auto" className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${isMono ? "font-mono text-sm" : ""}`}>
      {visibleText(text)}
    </div>
  );
}
