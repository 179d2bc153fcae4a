import type { TimeWindow } from "./model/axis.ts";
import type { PathSegment } from "./model/critical-path.ts";
import type { TraceModel } from "./model/trace-model.ts";

/** The data shared by all rows of a trace. */
export type RowScene = {
  model: TraceModel;
  window: TimeWindow;
  /** Undefined if the critical path is hidden. */
  path: ReadonlyMap<number, PathSegment[]> | undefined;
};
