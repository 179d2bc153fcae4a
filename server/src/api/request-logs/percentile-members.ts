import { z } from "zod";
import { percentileMetrics, type PercentileMetric } from "../../storage/spans/span-series.ts";

const percentile = z
  .number()
  .nullable()
  .meta({ description: "Exact, interpolated, of the spans with a value; null without any." });

/** The percentiles of a summary or a group, with the names that charts use. */
export const percentileMembers = Object.fromEntries(percentileMetrics.map((name) => [name, percentile])) as Record<
  PercentileMetric,
  typeof percentile
>;
