import type { Score } from "../domain/score.ts";
import type { ActiveAutomations } from "./active-automations.ts";
import type { ScoreMirror } from "./score-mirror.ts";

/** What the surface needs of this engine. */
export type Evaluation = {
  activeAutomations: ActiveAutomations;
  scoreMirror: ScoreMirror;
  /** Told of each new score. */
  onScore: (score: Score) => void;
};
