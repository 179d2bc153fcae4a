import { useMemo, useState, type ReactNode } from "react";
import { formatCost, formatCount, formatDuration, formatInteger, formatShare } from "../../lib/format.ts";
import { unknownCostText } from "../../lib/known-cost.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { flameOfNames, flameOfSpans, type FlameTree } from "./model/flame.ts";
import { at } from "./model/at.ts";
import { kindOf, labelOf } from "./model/trace-spans.ts";
import type { TraceModel } from "./model/trace-model.ts";
import { FlameCanvas } from "./parts/flame-canvas.tsx";
import { KindMark } from "./parts/kind-mark.tsx";
import { Untrusted } from "./parts/untrusted.tsx";
import { flameWeights, type ChangeSearch, type FlameWeight, type TraceSearch } from "./search.ts";

type FlameTabProps = { model: TraceModel; search: TraceSearch; change: ChangeSearch; onOpen: (index: number) => void };

const weightNames: Record<FlameWeight, string> = { time: "Time", cost: "Cost", tokens: "Tokens" };

/** Shows where time or money was spent: the width of a bar is the total of its spans and their descendants. */
export function FlameTab({ model, search, change, onOpen }: FlameTabProps): ReactNode {
  const weight = search.weight ?? "time";
  const isEach = search.each === "1";
  const tree = useMemo(() => flameOf(model, weight, isEach), [model, weight, isEach]);
  const [hovered, setHovered] = useState(-1);
  const focus = useMemo(
    () => (search.focus === undefined ? -1 : tree.spans.findIndex((span) => model.spans.ids[span] === search.focus)),
    [tree, model, search.focus],
  );
  const setFocus = (node: number) => {
    const span = tree.spans[node];
    change({ focus: span === undefined || tree.parents[node] === -1 ? undefined : model.spans.ids[span] });
  };
  const shown = hovered === -1 ? focus : hovered;
  return (
    <div className="flex min-h-0 flex-1 flex-col bg-panel">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-1.5">
        <fieldset className="flex items-center gap-3">
          <legend className="sr-only">Width of the bars</legend>
          {flameWeights.map((each) => (
            <label key={each} className="flex items-center gap-1.5">
              <input
                className="accent-(--accent)"
                type="radio"
                name="flame-weight"
                checked={each === weight}
                onChange={() => change({ weight: each === "time" ? undefined : each }, { replace: true })}
              />
              {weightNames[each]}
            </label>
          ))}
        </fieldset>
        <label
          className="flex items-center gap-1.5"
          title="Otherwise spans with the same name below the same parent are merged into one bar."
        >
          <Checkbox
            checked={isEach}
            onCheckedChange={(isOn) => change({ each: isOn ? "1" : undefined, focus: undefined }, { replace: true })}
          />
          Each span on its own
        </label>
        {focus !== -1 && (
          <Button size="sm" onClick={() => setFocus(-1)}>
            Show all
          </Button>
        )}
      </div>
      {tree.total > 0 ? (
        <FlameCanvas
          {...{ model, tree, focus, weight }}
          onHover={setHovered}
          onFocus={setFocus}
          onOpen={(node) => onOpen(at(tree.spans, node))}
        />
      ) : (
        <p className="flex-1 p-4 text-muted">{nothingText(model, weight)}</p>
      )}
      <Detail model={model} tree={tree} weight={weight} node={shown} onOpen={onOpen} />
    </div>
  );
}

function flameOf({ spans, totals }: TraceModel, weight: FlameWeight, isEach: boolean): FlameTree {
  const own = { time: totals.selfTimes, cost: spans.countedCosts, tokens: spans.countedTokens }[weight];
  return isEach ? flameOfSpans(spans, own) : flameOfNames(spans, own);
}

function nothingText({ header }: TraceModel, weight: FlameWeight): string {
  if (weight === "cost" && header.unpriced_count > 0) {
    return `No span of this trace has a known cost: ${unknownCostText(header.unpriced_count)}.`;
  }
  return `No span of this trace has any ${weight === "time" ? "duration" : weight}.`;
}

function formatWeight(weight: FlameWeight, value: number): string {
  if (weight === "time") return formatDuration(value / 1000);
  return weight === "cost" ? formatCost(value) : formatCount(value);
}

type DetailProps = {
  model: TraceModel;
  tree: FlameTree;
  weight: FlameWeight;
  node: number;
  onOpen: (index: number) => void;
};

function Detail({ model, tree, weight, node, onOpen }: DetailProps): ReactNode {
  const span = tree.spans[node];
  if (span === undefined) {
    return (
      <p className="border-t border-line px-4 py-1 text-muted">
        {formatWeight(weight, tree.total)} in all. Click a bar to see it across the whole width, again to open its span.
      </p>
    );
  }
  const count = at(tree.counts, node);
  const value = at(tree.weights, node);
  return (
    <div className="flex items-center gap-2 border-t border-line px-4 py-1" aria-live="polite">
      <KindMark kind={kindOf(model.spans, span)} />
      <span className="min-w-0 truncate">
        <Untrusted text={labelOf(model.spans, span)} />
      </span>
      {count > 1 && <span className="figures text-muted">× {formatInteger(count)}</span>}
      <span className="figures ml-auto shrink-0">
        {formatWeight(weight, value)} · {formatShare(value / tree.total)}
      </span>
      <Button size="sm" onClick={() => onOpen(span)}>
        {count > 1 ? "Open the first" : "Open"}
      </Button>
    </div>
  );
}
