import { useEffect, useState } from "react";
import { isRecord } from "../../lib/exact-json.ts";
import { blankDraft, type Draft } from "./draft.ts";

const storageKey = "spanway.playground";

/** The draft, stored for this tab. `owner` identifies the person and the organization: nobody else sees it. */
export function useDraft(owner: string, initial: Draft | undefined) {
  const [draft, setDraft] = useState<Draft>(() => chosen(readStored(owner), initial));
  useEffect(() => {
    try {
      sessionStorage.setItem(storageKey, JSON.stringify({ owner, draft }));
    } catch {
      // Storage may be unavailable; the text then lasts as long as the page.
    }
  }, [owner, draft]);
  return [draft, setDraft] as const;
}

/** A stored draft takes precedence over the span it started from, but not over another span. */
function chosen(stored: Draft | undefined, initial: Draft | undefined): Draft {
  if (initial !== undefined && stored?.span !== initial.span) return initial;
  return stored ?? initial ?? blankDraft();
}

function readStored(owner: string): Draft | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? "null");
    if (!isRecord(stored) || stored["owner"] !== owner || !isRecord(stored["draft"])) return undefined;
    return { ...blankDraft(), ...stored["draft"] };
  } catch {
    return undefined;
  }
}
