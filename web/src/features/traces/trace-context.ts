import type { TimeWindow } from "./model/axis.ts";
import type { PathStretch } from "./model/critical-path.ts";
import type { TraceModel } from "./model/trace-model.ts";

/** What every row of a trace is drawn from. */
export type RowScene = {
  model: TraceModel;
  window: TimeWindow;
  /** Undefined where the critical path is not shown. */
  path: ReadonlyMap<number, PathStretch[]> | undefined;
};
