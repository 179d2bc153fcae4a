import type { ReactNode } from "react";
import { formatBytes, formatNumberOf } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { exportFormats, type Exporter, type ExportFormat } from "./use-export.ts";

const titles: Record<ExportFormat, string> = {
  jsonl: "JSON Lines, one object a line",
  csv: "CSV, for spreadsheets",
  parquet: "Parquet, for data tools",
};

type MenuProps = {
  /** The number of spans to export; undefined if unknown. */
  count: number | undefined;
  side?: "top" | "bottom";
  onExport: (format: ExportFormat) => void;
  isDisabled?: boolean;
};

export function ExportMenu({ count, side = "bottom", onExport, isDisabled = false }: MenuProps): ReactNode {
  return (
    <Menu
      align="end"
      side={side}
      trigger={
        <Button icon="download" disabled={isDisabled} aria-label="Export" title="Export">
          <span className="@max-4xl:hidden">Export</span>
        </Button>
      }
      items={[
        { heading: count === undefined ? "All spans of this query" : `${formatNumberOf(count, "span")}, all fields` },
        ...exportFormats.map((format) => ({ label: titles[format], onSelect: () => onExport(format) })),
      ]}
    />
  );
}

/** The progress of an export until the file is saved. */
export function ExportProgress({ exporter: { state, cancel, retry } }: { exporter: Exporter }): ReactNode {
  if (state.error !== undefined) return <ErrorPanel error={state.error} onRetry={retry} />;
  if (!state.isRunning) return null;
  return (
    <p role="status" className="flex items-center gap-2 border-b border-line bg-info-soft px-3 py-1 text-sm">
      <Spinner />
      Exporting: <span className="figures">{formatBytes(state.bytes)}</span>
      <Button size="sm" className="ml-auto" onClick={cancel}>
        Cancel
      </Button>
    </p>
  );
}
