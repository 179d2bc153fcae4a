import { useCallback, useState } from "react";

const storageKey = "spanway.logs.widths";

/** The column widths that a person chose, by id, stored in this browser. */
export function useColumnWidths() {
  const [widths, setWidths] = useState(readWidths);
  const choose = useCallback((next: Record<string, number>) => {
    setWidths(next);
    writeWidths(next);
  }, []);
  return { widths, choose };
}

function readWidths(): Record<string, number> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    return Object.fromEntries(Object.entries(stored).filter(([, width]) => typeof width === "number"));
  } catch {
    return {};
  }
}

/** Storage may be unavailable; the widths then last as long as the page. */
function writeWidths(widths: Readonly<Record<string, number>>): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(widths));
  } catch {
    // Storage is full or disabled.
  }
}
