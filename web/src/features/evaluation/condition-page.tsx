import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import type { Window } from "../../charts/use-window.ts";
import { ConditionEditor } from "./condition-editor.tsx";
import { useCondition } from "./condition-queries.ts";
import { RecordPage } from "./record-page.tsx";

/** The condition with the id, or a new one. */
export function ConditionPage({ id, window }: { id: string; window: Window }): ReactNode {
  const [madeId, setMadeId] = useState<string>();
  const isOwn = id === "new" || id === madeId;
  const canWrite = useCan("automations:write");
  const condition = useCondition(id, !isOwn);
  const props = { onMade: setMadeId, canWrite, window };
  return (
    <RecordPage tab="conditions" back="All conditions" isForbidden={id === "new" && !canWrite} query={condition}>
      {isOwn ? (
        <ConditionEditor key="new" first={undefined} {...props} />
      ) : (
        condition.data && <ConditionEditor key={id} first={condition.data} {...props} />
      )}
    </RecordPage>
  );
}
