import { useCallback, useState } from "react";

const storageKey = "spanway.logs.widths";

/** Column widths by id, stored in this browser. */
export function useColumnWidths() {
  const [widths, setWidths] = useState(readWidths);
  const resize = useCallback((id: string, width: number) => {
    setWidths((before) => {
      const next = { ...before, [id]: width };
      writeWidths(next);
      return next;
    });
  }, []);
  return { widths, resize };
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
