import type { ReactNode } from "react";
import { visibleLine } from "../../../lib/visible-text.ts";

const shownChars = 200;

/**
 * A short untrusted text on one line: isolated from the surrounding text direction, truncated, with invisible
 * characters made visible.
 */
export function Untrusted({ text, className }: { text: string; className?: string | undefined }): ReactNode {
  const shown = visibleLine(text.slice(0, shownChars));
  return <bdi className={className}>{text.length > shownChars ? `${shown}…` : shown}</bdi>;
}

/** The same as plain text, for tooltips. */
export function truncateLine(text: string, chars = 1000): string {
  const shown = visibleLine(text.slice(0, chars));
  return text.length > chars ? `${shown}…` : shown;
}
