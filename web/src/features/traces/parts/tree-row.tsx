import { memo, type MouseEvent, type ReactNode } from "react";
import { formatCost, formatDuration, formatInteger, unknown } from "../../../lib/format.ts";
import { Icon } from "../../../ui/icon.tsx";
import { at } from "../model/at.ts";
import { costOf, describeSpan, oddities } from "../model/describe-span.ts";
import { hasFlag, kindOf, labelOf, textOf } from "../model/trace-spans.ts";
import type { RowScene } from "../trace-context.ts";
import { KindMark } from "./kind-mark.tsx";
import { SpanBar } from "./span-bar.tsx";
import { truncateLine, Untrusted } from "./untrusted.tsx";

type TreeRowProps = {
  scene: RowScene;
  index: number;
  row: number;
  top: number;
  /** The indentation in levels, minus those that all visible rows share. */
  indent: number;
  level: number;
  /** Undefined if there is nothing to fold. */
  isFolded: boolean | undefined;
  isOpen: boolean;
  isCursor: boolean;
  /** Undefined if there is no search. */
  isMatch: boolean | undefined;
  onPick: (index: number) => void;
  onFold: (index: number, isFolded: boolean) => void;
};

/** One span: its place in the tree, its duration and cost, and its bar. */
export const TreeRow = memo(function TreeRow(props: TreeRowProps): ReactNode {
  const { scene, index, isOpen, isCursor } = props;
  const ground = isOpen ? "bg-accent-soft" : isCursor ? "bg-raised" : "hover:bg-raised/60";
  return (
    // Keys are those of the tree as a whole, so screen readers announce the right row.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={`trace-row-${props.row}`}
      role="row"
      aria-level={props.level + 1}
      aria-rowindex={props.row + 2}
      aria-expanded={props.isFolded === undefined ? undefined : !props.isFolded}
      aria-selected={isOpen}
      onClick={() => props.onPick(index)}
      className={`trace-grid absolute contain-strict inset-x-0 h-row cursor-default ${ground} ${isCursor ? "outline-1 -outline-offset-1 outline-accent/50" : ""} ${props.isMatch === false ? "opacity-40" : ""}`}
      style={{ transform: `translateY(${props.top}px)` }}
    >
      <div role="gridcell" className="flex min-w-0 items-center gap-1.5 pr-2 pl-1">
        <Indent levels={props.indent} />
        <Chevron {...props} />
        <KindMark kind={kindOf(scene.model.spans, index)} />
        <Name scene={scene} index={index} isFolded={props.isFolded === true} />
        <Figures scene={scene} index={index} />
      </div>
      <div
        role="gridcell"
        className="trace-bars relative min-w-0 overflow-hidden"
        // Created on hover, since rows are rendered often while scrolling.
        onMouseEnter={({ currentTarget }) => {
          currentTarget.title = truncateLine(describeSpan(scene.model, index));
        }}
      >
        <SpanBar scene={scene} index={index} />
      </div>
    </div>
  );
});

const levelPx = 14;

function Indent({ levels }: { levels: number }): ReactNode {
  return <span aria-hidden className="trace-guides h-full shrink-0" style={{ width: levels * levelPx }} />;
}

function Chevron({ index, isFolded, onFold }: TreeRowProps): ReactNode {
  if (isFolded === undefined) return <span className="w-4 shrink-0" />;
  const toggle = (event: MouseEvent) => {
    event.stopPropagation();
    onFold(index, !isFolded);
  };
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={isFolded ? "Expand" : "Collapse"}
      className="flex shrink-0 text-faint hover:text-text"
      onClick={toggle}
    >
      <Icon name={isFolded ? "chevronRight" : "chevronDown"} />
    </button>
  );
}

function Name({ scene: { model }, index, isFolded }: { scene: RowScene; index: number; isFolded: boolean }): ReactNode {
  const { spans, totals } = model;
  const called = textOf(spans, spans.models, index);
  const label = labelOf(spans, index);
  const isFailed = hasFlag(spans, index, "failed");
  const failedBelow = at(totals.failed, index) - (isFailed ? 1 : 0);
  const note = oddities(model, index).join(" ");
  return (
    <span className="flex min-w-0 flex-1 items-center gap-1.5" title={truncateLine(label)}>
      <span className={`min-w-0 truncate ${isFailed ? "text-error" : ""}`}>
        <Untrusted text={label} />
      </span>
      {isFailed && <Icon name="alert" size={13} className="text-error" title="Failed" />}
      {note !== "" && <Icon name="info" size={13} className="text-warn" title={truncateLine(note)} />}
      {isFolded && (
        <span className="figures shrink-0 rounded-sm bg-raised px-1 text-muted">
          +{formatInteger(at(spans.ends, index) - index - 1)}
        </span>
      )}
      {isFolded && failedBelow > 0 && (
        <span className="figures shrink-0 rounded-sm bg-error-soft px-1 text-error">
          {formatInteger(failedBelow)} failed
        </span>
      )}
      {called !== "" && called !== label && (
        <span className="trace-model max-w-40 shrink-0 truncate text-faint">
          <Untrusted text={called} />
        </span>
      )}
    </span>
  );
}

function Figures({ scene: { model }, index }: { scene: RowScene; index: number }): ReactNode {
  const { spans, totals } = model;
  const cost = at(totals.costs, index);
  const unpriced = at(totals.unpriced, index);
  const isKnown = cost > 0 || (unpriced === 0 && at(totals.priced, index) > 0);
  const duration = at(spans.durations, index);
  return (
    <>
      <span
        className="figures trace-cost w-[68px] shrink-0 text-right whitespace-nowrap text-muted"
        title={costOf(model, index)}
      >
        {isKnown && formatCost(cost)}
        {unpriced > 0 && <span className="font-sans text-warn">{cost > 0 ? "+" : unknown}</span>}
      </span>
      <span
        className="figures w-[76px] shrink-0 text-right whitespace-nowrap"
        title={Number.isNaN(duration) ? "No duration is known." : undefined}
      >
        {formatDuration(duration / 1000)}
      </span>
    </>
  );
}
