import { useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import type { Problems } from "./draft.ts";

type Read = { ok: true; body: Record<string, unknown> } | { ok: false; problems: Problems };

type Options<Draft, Stored> = {
  first: Stored | undefined;
  draftOf: (stored: Stored | undefined) => Draft;
  read: (draft: Draft & { base: Stored | undefined }) => Read;
  save: {
    mutateAsync: (change: { id: string | undefined; body: Record<string, unknown> }) => Promise<Stored>;
    error: Error | null;
  };
  /** Called when a new record was stored. */
  onMade: (id: string) => void;
};

/** The draft of a record, the stored record, and the functions that convert between them. */
export function useRecordForm<Draft extends object, Stored extends { id: string }>({
  first,
  draftOf,
  read,
  save,
  onMade,
}: Options<Draft, Stored>) {
  const [saved, setSaved] = useState(first);
  const [draft, setDraft] = useState(() => draftOf(first));
  const [wrong, setWrong] = useState<Problems>({});
  const refused = save.error instanceof ApiError ? save.error.errors : {};

  /** Stores the draft and returns the record; undefined if the draft is invalid or storing fails. */
  const store = async (): Promise<Stored | undefined> => {
    const result = read({ ...draft, base: saved });
    setWrong(result.ok ? {} : result.problems);
    if (!result.ok) return undefined;
    try {
      const stored = await save.mutateAsync({ id: saved?.id, body: result.body });
      setSaved(stored);
      setDraft(draftOf(stored));
      if (saved === undefined) onMade(stored.id);
      return stored;
    } catch {
      // The form shows the error.
      return undefined;
    }
  };
  return {
    saved,
    draft,
    change: (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part })),
    problems: { ...refused, ...wrong } as Problems,
    store,
    isChanged: JSON.stringify(draft) !== JSON.stringify(draftOf(saved)),
  };
}
