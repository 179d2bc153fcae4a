import { useState, type ReactNode } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import { Input } from "../../ui/input.tsx";
import { keyProblem, readTyped, typedValue } from "./metadata-edit.ts";
import { ErrorLine } from "./error-line.tsx";
import { useUpdateSpan } from "./span-queries.ts";

type Draft = { key: string; text: string; isNew: boolean };

const keysShown = 200;

/** Edits keys and values one at a time; unsaved input is kept. */
export function EditMetadata({ id, metadata }: { id: string; metadata: Record<string, unknown> }): ReactNode {
  const update = useUpdateSpan(id);
  const [draft, setDraft] = useState<Draft | undefined>(undefined);
  const entries = Object.entries(metadata);
  const change = (key: string, value: unknown): void =>
    update.mutate({ metadata: Object.fromEntries([[key, value]]) }, { onSuccess: () => setDraft(undefined) });
  return (
    <div className="flex flex-col gap-1">
      {entries.length === 0 && draft === undefined && <p className="text-muted">The span has no metadata.</p>}
      <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-3 text-sm">
        {entries.slice(0, keysShown).map(([key, value]) => (
          <div key={key} className="group col-span-2 grid grid-cols-subgrid items-start py-px">
            <dt className="truncate text-muted" title={visibleLine(key)}>
              <bdi>{visibleLine(key)}</bdi>
            </dt>
            <dd className="flex min-w-0 items-start gap-1">
              {draft !== undefined && !draft.isNew && draft.key === key ? (
                <DraftForm
                  draft={draft}
                  onDraft={setDraft}
                  isBusy={update.isPending}
                  onSave={() => change(key, readTyped(draft.text))}
                />
              ) : (
                <>
                  <bdi className="figures [overflow-wrap:anywhere]">
                    {visibleLine(typedValue(value).slice(0, 2000))}
                  </bdi>
                  <span className="ml-auto flex shrink-0 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
                    <IconButton
                      size="sm"
                      label={`Edit ${visibleLine(key)}`}
                      icon="edit"
                      onClick={() => setDraft({ key, text: typedValue(value), isNew: false })}
                    />
                    <IconButton
                      size="sm"
                      label={`Remove ${visibleLine(key)}`}
                      icon="trash"
                      onClick={() => change(key, null)}
                    />
                  </span>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > keysShown && (
        <p className="text-xs text-muted">{entries.length - keysShown} more keys are in the tab JSON.</p>
      )}
      {draft?.isNew === true ? (
        <NewKey
          draft={draft}
          taken={Object.keys(metadata)}
          onDraft={setDraft}
          isBusy={update.isPending}
          onSave={() => change(draft.key, readTyped(draft.text))}
        />
      ) : (
        <span>
          <Button onClick={() => setDraft({ key: "", text: "", isNew: true })}>Add a key</Button>
        </span>
      )}
      <ErrorLine error={update.error} />
    </div>
  );
}

type FormProps = { draft: Draft; onDraft: (draft: Draft | undefined) => void; isBusy: boolean; onSave: () => void };

function DraftForm({ draft, onDraft, isBusy, onSave }: FormProps): ReactNode {
  return (
    <form
      className="flex min-w-0 flex-1 flex-wrap gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onDraft(undefined);
      }}
    >
      <Input
        aria-label="Value"
        placeholder="Value: text, or JSON"
        value={draft.text}
        onChange={(event) => onDraft({ ...draft, text: event.target.value })}
        className="flex-1 font-mono"
      />
      <Button type="submit" variant="primary" isBusy={isBusy}>
        Save
      </Button>
      <Button onClick={() => onDraft(undefined)}>Cancel</Button>
    </form>
  );
}

function NewKey({ taken, ...form }: FormProps & { taken: readonly string[] }): ReactNode {
  const [isTried, setTried] = useState(false);
  const problem = keyProblem(form.draft.key, taken);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap gap-1">
        <Input
          aria-label="Key"
          placeholder="Key"
          value={form.draft.key}
          onChange={(event) => form.onDraft({ ...form.draft, key: event.target.value })}
          className="!w-34 font-mono"
        />
        <DraftForm {...form} onSave={() => (problem === undefined ? form.onSave() : setTried(true))} />
      </div>
      {isTried && problem !== undefined && <p className="text-xs text-error">{problem}</p>}
    </div>
  );
}
