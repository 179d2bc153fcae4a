import { useEffect, useState, type ReactNode } from "react";
import { IconButton } from "./button.tsx";
import type { IconName } from "./icon.tsx";

/** Writes to the clipboard; if the API is missing (a page without TLS), with `execCommand`. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "fixed top-0 left-0 opacity-0";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("The browser does not allow copying.");
}

/** `text` may be a function that creates it on click. */
export function CopyButton({
  text,
  label = "Copy",
  icon = "copy",
  className,
}: {
  text: string | (() => string);
  label?: string;
  icon?: IconName;
  className?: string;
}): ReactNode {
  const [outcome, setOutcome] = useState<"copied" | "failed">();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), 1500);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <IconButton
      size="sm"
      icon={outcome === "copied" ? "check" : outcome === "failed" ? "alert" : icon}
      label={outcome === "copied" ? "Copied" : outcome === "failed" ? "Could not copy" : label}
      className={className}
      onClick={(event) => {
        event.stopPropagation();
        copyText(typeof text === "string" ? text : text()).then(
          () => setOutcome("copied"),
          () => setOutcome("failed"),
        );
      }}
    />
  );
}
