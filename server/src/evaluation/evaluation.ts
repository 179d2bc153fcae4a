import type { ActiveAutomations } from "./active-automations.ts";
import type { Evaluate } from "./evaluate.ts";
import type { ScoreMirror } from "./score-mirror.ts";

/** What the surface needs of this engine. */
export type Evaluation = {
  activeAutomations: ActiveAutomations;
  scoreMirror: ScoreMirror;
  evaluate: Evaluate;
};
