import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { useSettled } from "../../ui/use-settled.ts";
import { useAutomations } from "./automation-queries.ts";
import { conditionDraftOf, filtersOfDraft, readConditionDraft } from "./condition-draft.ts";
import { ConditionFields } from "./condition-fields.tsx";
import { useSaveCondition, type Condition } from "./condition-queries.ts";
import { DeleteCondition } from "./delete-condition.tsx";
import { MatchesPanel } from "./matches-panel.tsx";
import { RecordForm } from "./record-form.tsx";
import { useRecordForm } from "./use-record-form.ts";
import { UsesPanel } from "./uses.tsx";

type EditorProps = {
  first: Condition | undefined;
  canWrite: boolean;
  window: Window;
  onMade: (id: string) => void;
};

const settledMs = 400;

export function ConditionEditor({ first, canWrite, window, onMade }: EditorProps): ReactNode {
  const navigate = useNavigate();
  const save = useSaveCondition();
  const [isDeleting, setDeleting] = useState(false);
  const onStored = (id: string) => {
    onMade(id);
    void navigate({ to: "/evaluation", search: { tab: "conditions", condition: id }, replace: true });
  };
  const form = useRecordForm({ first, draftOf: conditionDraftOf, read: readConditionDraft, save, onMade: onStored });
  const { saved, draft } = form;
  const automations = useAutomations();
  const uses = automations.data?.filter(({ condition }) => condition.id === saved?.id);
  const previewed = useSettled(draft.query, settledMs);
  return (
    <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-2">
      <RecordForm noun="condition" {...form} canWrite={canWrite} save={save} onDelete={() => setDeleting(true)}>
        <ConditionFields draft={draft} problems={form.problems} window={window} onChange={form.change} />
      </RecordForm>
      <div className="flex min-w-0 flex-col gap-3">
        <MatchesPanel filters={filtersOfDraft({ ...draft, query: previewed })} query={previewed} window={window} />
        {saved !== undefined && <UsesPanel isUser={({ condition }) => condition.id === saved.id} />}
      </div>
      {isDeleting && saved !== undefined && (
        <DeleteCondition
          condition={saved}
          uses={uses}
          onClose={() => setDeleting(false)}
          onDeleted={() => void navigate({ to: "/evaluation", search: { tab: "conditions" } })}
        />
      )}
    </div>
  );
}
