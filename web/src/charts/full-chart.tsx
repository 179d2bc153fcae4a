import { useMemo, useState, type ReactNode } from "react";
import { formatDate } from "../lib/time.ts";
import { Icon } from "../ui/icon.tsx";
import type { ChartProps } from "./chart-canvas.tsx";
import { chartCsv } from "./chart-csv.ts";
import { ChartLegend } from "./chart-legend.tsx";
import { ChartTable } from "./chart-table.tsx";
import { downloadText } from "./download.ts";
import { figureFormats } from "./figures.ts";
import { TimeChart } from "./time-chart.tsx";

type FullChartProps = Omit<ChartProps, "hidden"> & {
  /** The file name without its extension. */
  fileName: string;
  isTable: boolean;
  onView: (isTable: boolean) => void;
};

/** A chart with its legend, a table view of the same data, and a download. */
export function FullChart({ fileName, isTable, onView, ...chart }: FullChartProps): ReactNode {
  const { data, label, timeZone, kind, height } = chart;
  const format = figureFormats[kind];
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => data.series.filter(({ key }) => !hidden.has(key)), [data, hidden]);
  const toggle = (key: string) => setHidden((keys) => keys.symmetricDifference(new Set([key])));
  const download = () => {
    const days = [data.starts[0], data.ends.at(-1)].map((time) => formatDate(time, "utc"));
    downloadText(`${fileName}-${days.join("-")}.csv`, "text/csv;charset=utf-8", chartCsv({ ...data, series: shown }));
  };
  return (
    <div>
      <div className="mb-1 flex items-start justify-between gap-2 max-sm:flex-col-reverse max-sm:items-stretch">
        <ChartLegend
          series={data.series}
          hidden={hidden}
          onToggle={toggle}
          format={format.short}
          formatExact={format.exact}
        />
        <div className="flex shrink-0 justify-end gap-1">
          <button type="button" className={button} aria-pressed={isTable} onClick={() => onView(!isTable)}>
            <Icon name={isTable ? "chart" : "columns"} size={14} />
            {isTable ? "Chart" : "Table"}
          </button>
          <button type="button" className={button} title="Download the shown data for spreadsheets" onClick={download}>
            <Icon name="download" size={14} />
            CSV
          </button>
        </div>
      </div>
      {isTable ? (
        <ChartTable
          data={{ ...data, series: shown }}
          label={label}
          {...{ timeZone, height }}
          formatExact={format.exact}
        />
      ) : (
        <TimeChart {...chart} hidden={hidden} />
      )}
    </div>
  );
}

const button =
  "flex h-6 items-center gap-1 rounded-sm border border-line px-1.5 text-xs text-muted hover:bg-raised hover:text-text";
