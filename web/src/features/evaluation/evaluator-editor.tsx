import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useToast } from "../../ui/toast.tsx";
import { DeleteEvaluator } from "./delete-evaluator.tsx";
import { byMember, draftOf, readDraft, withChange, type Draft, type Evaluator, type Problems } from "./draft.ts";
import { EvaluatorFields } from "./evaluator-fields.tsx";
import { useSaveEvaluator } from "./queries.ts";
import { SubmitRecord } from "./submit-record.tsx";
import { TryPanel } from "./try-panel.tsx";
import { UsesPanel } from "./uses.tsx";
import { VersionsPanel } from "./versions-panel.tsx";

type EditorProps = { first: Evaluator | undefined; canWrite: boolean; onMade: (id: string) => void };

/** The draft, the stored evaluator, and the functions that convert between them. */
function useEvaluatorForm(first: Evaluator | undefined, onMade: (id: string) => void) {
  const navigate = useNavigate();
  const [saved, setSaved] = useState(first);
  const [draft, setDraft] = useState(() => draftOf(first));
  const [wrong, setWrong] = useState<Problems>({});
  const save = useSaveEvaluator();
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(saved));
  const refused = save.error instanceof ApiError ? byMember(save.error.errors) : {};
  const problems = { ...refused, ...wrong };
  const change = (part: Partial<Draft>) => setDraft((before) => withChange(before, part));

  /** Stores the draft and returns the evaluator; undefined if the draft is invalid or storing fails. */
  const store = async (): Promise<Evaluator | undefined> => {
    const read = readDraft({ ...draft, base: saved });
    setWrong(read.ok ? {} : read.problems);
    if (!read.ok) return undefined;
    try {
      const stored = await save.mutateAsync({ id: saved?.id, body: read.body });
      setSaved(stored);
      setDraft(draftOf(stored));
      if (saved === undefined) {
        onMade(stored.id);
        await navigate({ to: "/evaluation", search: { evaluator: stored.id }, replace: true });
      }
      return stored;
    } catch {
      // The form shows the error.
      return undefined;
    }
  };
  return { saved, draft, setDraft, change, problems, save, store, isChanged };
}

export function EvaluatorEditor({ first, canWrite, onMade }: EditorProps): ReactNode {
  const navigate = useNavigate();
  const toast = useToast();
  const { saved, draft, setDraft, change, problems, save, store, isChanged } = useEvaluatorForm(first, onMade);
  const [isDeleting, setDeleting] = useState(false);
  const saveOnly = async () => {
    const stored = await store();
    if (stored !== undefined) toast.done("Evaluator saved", stored.name);
  };
  const title = saved === undefined ? "New evaluator" : visibleLine(saved.name);
  return (
    <div className="grid items-start gap-3 lg:grid-cols-2">
      <Panel
        title={title}
        actions={
          canWrite &&
          saved !== undefined && (
            <IconButton size="sm" icon="trash" label="Delete the evaluator" onClick={() => setDeleting(true)} />
          )
        }
      >
        <form
          className="flex flex-col gap-3 p-3"
          onSubmit={(event) => {
            event.preventDefault();
            void saveOnly();
          }}
        >
          <fieldset disabled={!canWrite} className="flex min-w-0 flex-col gap-3">
            <EvaluatorFields draft={draft} isNew={saved === undefined} problems={problems} onChange={change} />
          </fieldset>
          {save.error !== null && <ErrorPanel error={save.error} />}
          {canWrite && (
            <SubmitRecord noun="evaluator" isNew={saved === undefined} isChanged={isChanged} isBusy={save.isPending} />
          )}
        </form>
      </Panel>
      <div className="flex min-w-0 flex-col gap-3">
        <TryPanel draft={draft} saved={isChanged ? undefined : saved} canWrite={canWrite} onStore={store} />
        {saved !== undefined && (
          <VersionsPanel
            evaluator={saved}
            canWrite={canWrite}
            isChanged={isChanged}
            onShow={(version) => setDraft({ ...draftOf(version), base: saved })}
          />
        )}
        {saved !== undefined && saved.type !== "human" && (
          <UsesPanel isUser={({ evaluator_ids: ids }) => ids.includes(saved.id)} />
        )}
      </div>
      {isDeleting && saved !== undefined && (
        <DeleteEvaluator
          evaluator={saved}
          onClose={() => setDeleting(false)}
          onDeleted={() => void navigate({ to: "/evaluation", search: {} })}
        />
      )}
    </div>
  );
}
