import type { ActiveAutomations } from "./active-automations.ts";
import type { Evaluate } from "./evaluate.ts";
import type { ScoreReplicator } from "./score-replicator.ts";

/** The parts of this engine that the API uses. */
export type Evaluation = {
  activeAutomations: ActiveAutomations;
  scoreReplicator: ScoreReplicator;
  evaluate: Evaluate;
};
