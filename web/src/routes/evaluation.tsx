import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWindow } from "../charts/use-window.ts";
import { AutomationPage } from "../features/evaluation/automation-page.tsx";
import { AutomationsPanel } from "../features/evaluation/automations-panel.tsx";
import { ConditionPage } from "../features/evaluation/condition-page.tsx";
import { ConditionsPanel } from "../features/evaluation/conditions-panel.tsx";
import { EvaluatorPage } from "../features/evaluation/evaluator-page.tsx";
import { EvaluatorsPanel } from "../features/evaluation/evaluators-panel.tsx";
import { ScoresPanel } from "../features/evaluation/scores-panel.tsx";
import type { EvaluationTab } from "../features/evaluation/search.ts";
import { Tabs } from "../ui/tabs.tsx";

const route = getRouteApi("/shell/evaluation");

const tabs: ReadonlyArray<{ value: EvaluationTab; label: string }> = [
  { value: "evaluators", label: "Evaluators" },
  { value: "conditions", label: "Conditions" },
  { value: "automations", label: "Automations" },
  { value: "scores", label: "Scores over time" },
];

export function EvaluationScreen(): ReactNode {
  const { tab = "evaluators" } = route.useSearch();
  const navigate = useNavigate();
  return (
    <div className="flex min-h-full flex-col">
      <div className="bg-panel">
        <Tabs
          label="Evaluation"
          value={tab}
          tabs={tabs}
          onValueChange={(next) => void navigate({ to: "/evaluation", search: { tab: next } })}
        />
      </div>
      <div className="w-full max-w-[1300px] p-3 md:p-4">
        <TabContent tab={tab} />
      </div>
    </div>
  );
}

function TabContent({ tab }: { tab: EvaluationTab }): ReactNode {
  const { evaluator, condition, automation, page = 1, view } = route.useSearch();
  const window = useWindow();
  if (tab === "scores") return <ScoresPanel window={window} isTable={view === "table"} />;
  if (tab === "conditions") {
    return condition === undefined ? <ConditionsPanel /> : <ConditionPage id={condition} window={window} />;
  }
  if (tab === "automations") {
    if (automation === undefined) return <AutomationsPanel />;
    return <AutomationPage id={automation} page={page} window={window} />;
  }
  return evaluator === undefined ? <EvaluatorsPanel page={page} /> : <EvaluatorPage id={evaluator} />;
}
