import type { ActiveAutomations } from "./active-automations.ts";
import type { Evaluate } from "./evaluate.ts";
import type { ScoreMirror } from "./score-mirror.ts";

/** The parts of this engine that the API uses. */
export type Evaluation = {
  activeAutomations: ActiveAutomations;
  scoreMirror: ScoreMirror;
  evaluate: Evaluate;
};
