import type { ReactNode } from "react";
import { bucketLabel } from "./bucket-label.ts";
import type { ChartData } from "./chart-data.ts";
import { markEdges } from "../ui/mark-edges.ts";
import { Swatch } from "./swatch.tsx";

type TableProps = {
  data: ChartData;
  label: string;
  timeZone: string;
  /** The height of the chart, so that the layout does not shift. */
  height: number;
  formatExact: (value: number | null) => string;
};

/** The same data as a table. */
export function ChartTable({ data, label, timeZone, height, formatExact }: TableProps): ReactNode {
  return (
    <div
      ref={markEdges}
      className="faded-edges relative overflow-auto"
      style={{ height }}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table className="w-full border-separate border-spacing-0 text-xs">
        <thead>
          <tr>
            <th className={`${head} text-left`}>Time</th>
            {data.series.map(({ key, label, color }) => (
              <th key={key} className={`${head} text-right`}>
                <span className="inline-flex max-w-48 items-center gap-1.5">
                  <Swatch color={color} />
                  <span className="truncate">{label}</span>
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.starts.map((start, at) => (
            <tr key={start} className="hover:bg-raised">
              <th scope="row" className="whitespace-nowrap px-2 py-1 text-left font-normal text-muted">
                {bucketLabel(start, data.ends[at] ?? start, timeZone)}
              </th>
              {data.series.map(({ key, values }) => (
                <td key={key} className="figures px-2 py-1 text-right">
                  {formatExact(values[at] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" className={`${foot} text-left`}>
              Whole window
            </th>
            {data.series.map(({ key, total }) => (
              <td key={key} className={`${foot} figures text-right`}>
                {formatExact(total)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

const head = "sticky top-0 border-b border-line bg-panel px-2 py-1 font-medium text-muted";
const foot = "sticky bottom-0 border-t border-line bg-panel px-2 py-1 font-medium";
