import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { ApiError } from "../api/api-error.ts";
import { IconButton } from "./button.tsx";
import { cx } from "./cx.ts";
import { errorWords } from "./error-words.ts";
import { floating } from "./floating.ts";

type Note = { id: number; title: string; description: string | undefined; isFailure: boolean };

type Say = {
  done: (title: string, description?: string) => void;
  failed: (title: string, error: unknown) => void;
};

const ToastContext = createContext<Say>({ done: () => undefined, failed: () => undefined });

const maxNotes = 3;
const doneMs = 4000;
const failedMs = 10_000;

/** Short messages about completed actions, in a corner: never the only place for something important. */
export function useToast(): Say {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }): ReactNode {
  const [notes, setNotes] = useState<readonly Note[]>([]);
  const say = useMemo<Say>(() => {
    let lastId = 0;
    const add = (note: Omit<Note, "id">): void => {
      lastId += 1;
      const id = lastId;
      setNotes((notes) => [...notes, { ...note, id }].slice(-maxNotes));
    };
    return {
      done: (title, description) => add({ title, description, isFailure: false }),
      failed(title, error) {
        const id = error instanceof ApiError && error.requestId !== undefined ? ` (request ${error.requestId})` : "";
        const description = `${errorWords(error).detail}${id}`;
        add({ title, description, isFailure: true });
      },
    };
  }, []);
  const dismiss = (id: number): void => setNotes((notes) => notes.filter((note) => note.id !== id));
  return (
    <ToastContext value={say}>
      {children}
      <div role="status" className="fixed right-4 bottom-4 z-60 flex w-80 max-w-[calc(100vw-32px)] flex-col gap-2">
        {notes.map((note) => (
          <Toast key={note.id} note={note} onDismiss={() => dismiss(note.id)} />
        ))}
      </div>
    </ToastContext>
  );
}

function Toast({ note, onDismiss }: { note: Note; onDismiss: () => void }): ReactNode {
  const { title, description, isFailure } = note;
  useEffect(() => {
    const timer = setTimeout(onDismiss, isFailure ? failedMs : doneMs);
    return () => clearTimeout(timer);
    // The time runs from when the note came, whatever else is drawn.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  return (
    <div
      className={cx(
        floating,
        "flex items-start gap-2 border-l-4 py-2 pr-1 pl-3",
        isFailure ? "border-l-error" : "border-l-accent",
      )}
    >
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {description !== undefined && <p className="text-sm break-words text-muted">{description}</p>}
      </div>
      <IconButton size="sm" icon="close" label="Dismiss" onClick={onDismiss} />
    </div>
  );
}
