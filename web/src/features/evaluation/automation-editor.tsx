import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { formatInteger } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Time } from "../../ui/value.tsx";
import { automationDraftOf, readAutomationDraft } from "./automation-draft.ts";
import { AutomationFields } from "./automation-fields.tsx";
import { useSaveAutomation, type Automation } from "./automation-queries.ts";
import { AutomationScores } from "./automation-scores.tsx";
import { conditionDraftOf } from "./condition-draft.ts";
import { useConditions } from "./condition-queries.ts";
import { DeleteAutomation } from "./delete-automation.tsx";
import { MatchesPanel } from "./matches-panel.tsx";
import { filtersOfPolicy } from "./policy.ts";
import { RecordForm } from "./record-form.tsx";
import { useRecordForm } from "./use-record-form.ts";

type EditorProps = {
  first: Automation | undefined;
  canWrite: boolean;
  page: number;
  window: Window;
  onMade: (id: string) => void;
};

export function AutomationEditor({ first, canWrite, page, window, onMade }: EditorProps): ReactNode {
  const navigate = useNavigate();
  const save = useSaveAutomation();
  const [isDeleting, setDeleting] = useState(false);
  const onStored = (id: string) => {
    onMade(id);
    void navigate({ to: "/evaluation", search: { tab: "automations", automation: id }, replace: true });
  };
  const form = useRecordForm({ first, draftOf: automationDraftOf, read: readAutomationDraft, save, onMade: onStored });
  const { saved, draft } = form;
  return (
    <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-2">
      <RecordForm noun="automation" {...form} canWrite={canWrite} save={save} onDelete={() => setDeleting(true)}>
        <LastError automation={first?.id === saved?.id ? first : saved} />
        <AutomationFields draft={draft} problems={form.problems} onChange={form.change} />
      </RecordForm>
      <div className="flex min-w-0 flex-col gap-3">
        {draft.condition !== "" && (
          <ConditionMatches id={draft.condition} sampling={Number(draft.sampling)} window={window} />
        )}
        {saved !== undefined && <AutomationScores automation={saved} page={page} />}
      </div>
      {isDeleting && saved !== undefined && (
        <DeleteAutomation
          automation={saved}
          onClose={() => setDeleting(false)}
          onDeleted={() => void navigate({ to: "/evaluation", search: { tab: "automations" } })}
        />
      )}
    </div>
  );
}

function LastError({ automation }: { automation: Automation | undefined }): ReactNode {
  if (automation === undefined || automation.last_error === null) return null;
  return (
    <p role="status" className="rounded-md border border-warn/40 bg-warn-soft px-3 py-2 [overflow-wrap:anywhere]">
      Last problem, <Time at={automation.last_error_at} isAgo />: {visibleLine(automation.last_error)}
    </p>
  );
}

type MatchesProps = { id: string; sampling: number; window: Window };

/** The logs in the range that the automation would have evaluated. */
function ConditionMatches({ id, sampling, window }: MatchesProps): ReactNode {
  const conditions = useConditions();
  const condition = conditions.data?.find((each) => each.id === id);
  if (condition === undefined) return null;
  return (
    <MatchesPanel
      filters={filtersOfPolicy(condition.condition_policy)}
      query={conditionDraftOf(condition).query}
      window={window}
    >
      {(count) =>
        sampling >= 0 && sampling < 100 && count > 0
          ? `; a sample of ${sampling}% has about ${formatInteger(Math.round((count * sampling) / 100))}.`
          : "."
      }
    </MatchesPanel>
  );
}
