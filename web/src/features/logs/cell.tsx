import type { ReactNode } from "react";
import { formatCost, formatCount, formatDuration, formatExactCost, formatInteger, unknown } from "../../lib/format.ts";
import { formatExactTime, formatTime, type TimeZone } from "../../lib/time.ts";
import { Icon } from "../../ui/icon.tsx";
import { Unknown } from "../../ui/value.tsx";
import type { Column } from "./columns.ts";
import {
  cellText,
  isFailed,
  metadataIn,
  numberIn,
  payloadText,
  scoreIn,
  textIn,
  titleText,
  type LogRow,
} from "./row.ts";

/** The value of a column in a row. Always rendered as text, never as markup. */
export function Cell({ row, column, zone }: { row: LogRow; column: Column; zone: TimeZone }): ReactNode {
  switch (column.kind) {
    case "time":
      return (
        <time className="figures" title={formatExactTime(textIn(row, column.id), zone)}>
          {formatTime(textIn(row, column.id), zone)}
        </time>
      );
    case "status":
      return <Status row={row} />;
    case "name":
      return <Name row={row} />;
    case "cost":
      return <Cost row={row} />;
    case "tokens":
      return (
        <Figure value={numberIn(row, column.id)} format={formatCount} exact={formatInteger} missing="not reported" />
      );
    case "duration":
      return (
        <Figure value={numberIn(row, column.id)} format={formatDuration} exact={exactSeconds} missing="not known" />
      );
    case "number":
      return <Figure value={numberIn(row, column.id)} format={formatCount} exact={String} missing="not known" />;
    case "flag":
      return row[column.id] === true ? "yes" : row[column.id] === false ? "no" : <Unknown why="not reported" />;
    case "feedback":
      return <Feedback value={row[column.id]} />;
    case "payload":
      return <Text shown={payloadText(row[column.id])} title={titleText(row[column.id])} why="no text" />;
    case "metadata":
      return <Value value={metadataIn(row, column.key ?? "")} why="this span has no such key" />;
    case "score":
      return <Value value={scoreIn(row, column.key ?? "")} why="not scored" />;
    case "id":
      return <Value value={row[column.id]} why="this span has none" isMono />;
    case "text":
      return <Value value={row[column.id]} why="this span has none" />;
    default:
      return null;
  }
}

function exactSeconds(value: number): string {
  return `${value} s`;
}

function Text({
  shown,
  title,
  why,
  isMono = false,
}: {
  shown: string;
  title: string;
  why: string;
  isMono?: boolean;
}): ReactNode {
  if (shown === "") return <Unknown why={why} />;
  return (
    <bdi className={isMono ? "figures" : ""} title={title}>
      {shown}
    </bdi>
  );
}

function Value({ value, why, isMono = false }: { value: unknown; why: string; isMono?: boolean }): ReactNode {
  return (
    <Text shown={cellText(value)} title={titleText(value)} why={why} isMono={isMono || typeof value === "number"} />
  );
}

type FigureProps = {
  value: number | null;
  format: (value: number) => string;
  exact: (value: number) => string;
  missing: string;
};

function Figure({ value, format, exact, missing }: FigureProps): ReactNode {
  if (value === null) return <Unknown why={missing} />;
  return (
    <span className="figures" title={exact(value)}>
      {format(value)}
    </span>
  );
}

function Cost({ row }: { row: LogRow }): ReactNode {
  const cost = numberIn(row, "cost");
  const unpriced = textIn(row, "unpriced");
  if (cost === null)
    return <Unknown why={unpriced === "" ? "no cost is known" : `no price for ${cellText(unpriced)}`} />;
  return (
    <span className="figures" title={formatExactCost(cost)}>
      {formatCost(cost)}
    </span>
  );
}

function Status({ row }: { row: LogRow }): ReactNode {
  const code = numberIn(row, "status_code");
  const failed = isFailed(row);
  const title = failed ? titleText(row["error_message"]) || "failed" : "success";
  return (
    // Inline, so that the number has the same baseline as those of the other columns.
    <span className={failed ? "text-error" : "text-muted"} title={title}>
      <span
        className={`relative -top-px mr-1.5 inline-block size-1.5 rounded-full align-middle ${failed ? "bg-error" : "bg-ok"}`}
        aria-hidden
      />
      <span className="figures">{code ?? (failed ? "error" : "ok")}</span>
    </span>
  );
}

function Name({ row }: { row: LogRow }): ReactNode {
  const type = textIn(row, "log_type");
  const name = textIn(row, "span_name");
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className={`size-2 shrink-0 rounded-sm ${kindColour(type)}`} title={cellText(type) || "no type"} />
      <bdi className="truncate" title={titleText(name)}>
        {cellText(name) || <span className="text-muted">{cellText(type) || unknown}</span>}
      </bdi>
      {row["is_pinned"] === true && <Icon name="pin" size={12} className="text-accent" title="Pinned" />}
      {textIn(row, "note") !== "" && (
        <Icon name="note" size={12} className="text-warn" title={titleText(row["note"])} />
      )}
    </span>
  );
}

const kindColours: Readonly<Record<string, string>> = {
  chat: "bg-kind-chat",
  completion: "bg-kind-chat",
  response: "bg-kind-response",
  embedding: "bg-kind-embedding",
  speech: "bg-kind-speech",
  transcription: "bg-kind-transcription",
  workflow: "bg-kind-workflow",
  agent: "bg-kind-agent",
  task: "bg-kind-task",
  tool: "bg-kind-tool",
  function: "bg-kind-tool",
  handoff: "bg-kind-handoff",
  guardrail: "bg-kind-guardrail",
  score: "bg-kind-score",
};

function kindColour(type: string): string {
  return Object.hasOwn(kindColours, type) ? (kindColours[type] ?? "") : "bg-kind-custom";
}

function Feedback({ value }: { value: unknown }): ReactNode {
  if (value === true) return <span className="text-ok">good</span>;
  return value === false ? <span className="text-error">bad</span> : <Unknown why="no feedback" />;
}
