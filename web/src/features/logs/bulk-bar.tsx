import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent, type ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { TextArea } from "../../ui/input.tsx";
import { comparedMax, writeIds } from "../spans/search.ts";
import { ExportMenu } from "./export-menu.tsx";
import { PopupButton } from "./popup-button.tsx";
import { ScoreForm } from "./score-form.tsx";
import { useBulkChange, useBulkScore, type ScoreValue, type SpanChange } from "./use-bulk-change.ts";
import type { ExportFormat } from "./use-export.ts";

type BarProps = {
  ids: readonly string[];
  mayWrite: boolean;
  onExport: (format: ExportFormat) => void;
  onClear: () => void;
};

const marks: ReadonlyArray<readonly [label: string, change: SpanChange]> = [
  ["Pin", { is_pinned: true }],
  ["Unpin", { is_pinned: false }],
  ["Good", { positive_feedback: true }],
  ["Bad", { positive_feedback: false }],
];

/** Actions on the selected spans. */
export function BulkBar({ ids, mayWrite, onExport, onClear }: BarProps): ReactNode {
  const change = useBulkChange();
  const score = useBulkScore();
  const isBusy = change.isPending || score.isPending;
  // What was done last is what the bar speaks of.
  const apply = (changes: SpanChange, onSuccess = (): void => undefined): void => {
    score.reset();
    change.mutate({ ids, change: changes }, { onSuccess });
  };
  const addScore = (evaluatorId: string, value: ScoreValue, onSuccess: () => void): void => {
    change.reset();
    score.mutate({ ids, left: [...ids], evaluatorId, value }, { onSuccess });
  };
  const retry = (): void => {
    if (change.error !== null) change.mutate(change.variables);
    if (score.error !== null) score.mutate(score.variables);
  };
  const error = change.error ?? score.error;
  const done = change.data ?? score.data;
  return (
    <div
      role="toolbar"
      aria-label="Selected spans"
      className="@container border-t border-line-strong bg-raised px-3 py-1.5"
    >
      <div className="flex flex-wrap items-center gap-1.5">
        <span className="mr-2 font-medium">{formatInteger(ids.length)} selected</span>
        <CompareButton ids={ids} />
        {mayWrite && (
          <>
            {marks.map(([label, changes]) => (
              <Button key={label} disabled={isBusy} onClick={() => apply(changes)}>
                {label}
              </Button>
            ))}
            <PopupButton icon="note" label="Note" side="top">
              {(close) => <NoteForm isBusy={isBusy} onSave={(note) => apply({ note }, close)} />}
            </PopupButton>
            <PopupButton icon="score" label="Score" side="top">
              {(close) => (
                <ScoreForm isBusy={isBusy} onSave={(evaluatorId, value) => addScore(evaluatorId, value, close)} />
              )}
            </PopupButton>
          </>
        )}
        <ExportMenu count={ids.length} side="top" onExport={onExport} />
        <span role="status" className="truncate text-sm text-muted">
          {isBusy ? "Saving…" : done === undefined ? "" : summaryOf(done)}
        </span>
        <Button variant="ghost" icon="close" className="ml-auto" onClick={onClear}>
          Clear
        </Button>
      </div>
      {error !== null && <ErrorPanel error={error} onRetry={retry} />}
    </div>
  );
}

function CompareButton({ ids }: { ids: readonly string[] }): ReactNode {
  const navigate = useNavigate();
  const isFit = ids.length >= 2 && ids.length <= comparedMax;
  return (
    <Button
      icon="columns"
      disabled={!isFit}
      title={isFit ? undefined : `Select 2 to ${comparedMax} spans.`}
      onClick={() => void navigate({ to: "/compare", search: { spans: writeIds(ids) } })}
    >
      Side by side
    </Button>
  );
}

function summaryOf({ changed, problems }: { changed: number; problems: readonly string[] }): string {
  const first = problems[0];
  const saved = `${formatInteger(changed)} saved`;
  return first === undefined ? saved : `${saved}, ${formatInteger(problems.length)} not: ${visibleLine(first)}`;
}

function NoteForm({ isBusy, onSave }: { isBusy: boolean; onSave: (note: string | null) => void }): ReactNode {
  const [note, setNote] = useState("");
  const isEmpty = note.trim() === "";
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    onSave(isEmpty ? null : note);
  };
  return (
    <form className="flex flex-col gap-2 p-3" onSubmit={onSubmit}>
      <TextArea
        aria-label="Note"
        maxLength={10_000}
        placeholder="A remark for colleagues"
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      <Button type="submit" variant={isEmpty ? "danger" : "primary"} isBusy={isBusy}>
        {isEmpty ? "Remove the notes" : "Save the note"}
      </Button>
    </form>
  );
}
