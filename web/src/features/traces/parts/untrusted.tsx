import type { ReactNode } from "react";
import { visibleLine } from "../../../lib/visible-text.ts";

const shownChars = 200;

/** A short text from data on one line: apart from the direction of the text around it, cut, what is invisible made visible. */
export function Untrusted({ text, className }: { text: string; className?: string | undefined }): ReactNode {
  const shown = visibleLine(text.slice(0, shownChars));
  return <bdi className={className}>{text.length > shownChars ? `${shown}…` : shown}</bdi>;
}

/** The same as a plain text, for titles. */
export function cutLine(text: string, chars = 1000): string {
  const shown = visibleLine(text.slice(0, chars));
  return text.length > chars ? `${shown}…` : shown;
}
