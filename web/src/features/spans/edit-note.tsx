import { useState, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { TextArea } from "../../ui/input.tsx";
import { useUpdateSpan } from "./span-queries.ts";
import { textOf, type Span } from "./span-record.ts";
import { ErrorLine } from "./error-line.tsx";

const noteChars = 10_000;

/** Edits pin, feedback and note. Input is kept until it is saved, even after an error. */
export function EditNote({ id, span }: { id: string; span: Span }): ReactNode {
  const update = useUpdateSpan(id);
  const saved = textOf(span, "note") ?? "";
  const [text, setText] = useState<string | undefined>(undefined);
  const isPinned = span["is_pinned"] === true;
  const feedback = span["positive_feedback"];
  const save = (): void =>
    update.mutate({ note: text === "" ? null : (text ?? "") }, { onSuccess: () => setText(undefined) });
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        <Toggle
          label={isPinned ? "Pinned" : "Pin"}
          isOn={isPinned}
          onClick={() => update.mutate({ is_pinned: !isPinned })}
        >
          <Icon name="pin" size={14} />
        </Toggle>
        <Toggle
          label="Good"
          isOn={feedback === true}
          onClick={() => update.mutate({ positive_feedback: feedback === true ? null : true })}
        >
          <Icon name="check" size={14} />
        </Toggle>
        <Toggle
          label="Bad"
          isOn={feedback === false}
          onClick={() => update.mutate({ positive_feedback: feedback === false ? null : false })}
        >
          <Icon name="close" size={14} />
        </Toggle>
      </div>
      <TextArea
        aria-label="Note"
        placeholder="Add a note"
        rows={Math.min(8, Math.max(2, (text ?? saved).split("\n").length))}
        maxLength={noteChars}
        value={text ?? saved}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text !== undefined) save();
        }}
        className="resize-y"
      />
      {text !== undefined && text !== saved && (
        <div className="flex gap-2">
          <Button variant="primary" isBusy={update.isPending} onClick={save}>
            Save note
          </Button>
          <Button onClick={() => setText(undefined)}>Discard</Button>
        </div>
      )}
      <ErrorLine error={update.error} />
    </div>
  );
}

type ToggleProps = { label: string; isOn: boolean; onClick: () => void; children: ReactNode };

function Toggle({ label, isOn, onClick, children }: ToggleProps): ReactNode {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onClick}
      className={`flex h-7 items-center gap-1 rounded-md border px-2 ${isOn ? "border-accent bg-accent-soft text-accent" : "border-line text-muted hover:text-text"}`}
    >
      {children}
      {label}
    </button>
  );
}
