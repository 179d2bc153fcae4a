import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import type { Window } from "../../charts/use-window.ts";
import { AutomationEditor } from "./automation-editor.tsx";
import { useAutomation } from "./automation-queries.ts";
import { RecordPage } from "./record-page.tsx";

type PageProps = { id: string; page: number; window: Window };

/** The automation with the id, or a new one. */
export function AutomationPage({ id, page, window }: PageProps): ReactNode {
  const [madeId, setMadeId] = useState<string>();
  const isOwn = id === "new" || id === madeId;
  const canWrite = useCan("automations:write");
  const automation = useAutomation(id, !isOwn);
  const props = { onMade: setMadeId, canWrite, page, window };
  return (
    <RecordPage tab="automations" back="All automations" isForbidden={id === "new" && !canWrite} query={automation}>
      {isOwn ? (
        <AutomationEditor key="new" first={undefined} {...props} />
      ) : (
        automation.data && <AutomationEditor key={id} first={automation.data} {...props} />
      )}
    </RecordPage>
  );
}
