import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { visibleLine } from "../../../lib/visible-text.ts";
import { readColor, useThemeChanges } from "../colors.ts";
import { kindStyle } from "../kinds.ts";
import { at } from "../model/at.ts";
import { flameBars, flameDepth, type FlameBar, type FlameTree } from "../model/flame.ts";
import { hasFlag, kindOf, labelOf } from "../model/trace-spans.ts";
import type { TraceModel } from "../model/trace-model.ts";
import type { FlameWeight } from "../search.ts";
import { useSize } from "../use-size.ts";
import { stepFlame } from "./step-flame.ts";

type FlameCanvasProps = {
  model: TraceModel;
  tree: FlameTree;
  /** Nodes, or -1. */
  focus: number;
  weight: FlameWeight;
  onHover: (node: number) => void;
  onFocus: (node: number) => void;
  onOpen: (node: number) => void;
};

const levelPx = 22;

/** The bars of a flame graph, roots at the top. Only the visible part is laid out and painted. */
export function FlameCanvas({ model, tree, focus, weight, onHover, onFocus, onOpen }: FlameCanvasProps): ReactNode {
  const scrollRef = useRef<HTMLDivElement>(null);
  const canvasRef = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(scrollRef);
  const [top, setTop] = useState(0);
  const [marked, setMarked] = useState(-1);
  const theme = useThemeChanges();
  const levels = useMemo(() => flameDepth(tree) + 1, [tree]);
  const bars = useMemo(() => {
    const first = Math.floor(top / levelPx);
    return flameBars(tree, { focus, width: Math.floor(width), first, last: first + Math.ceil(height / levelPx) });
  }, [tree, focus, width, height, top]);
  useEffect(() => {
    if (canvasRef.current) paint(canvasRef.current, { model, tree, bars, width, height, top, marked });
  }, [model, tree, bars, width, height, top, marked, theme]);
  const barAt = (event: MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, level] = [event.clientX - box.left, Math.floor((event.clientY - box.top + top) / levelPx)];
    return bars.find((bar) => bar.level === level && x >= bar.x && x <= bar.x + bar.width)?.node ?? -1;
  };
  const mark = (node: number) => {
    setMarked(node);
    onHover(node);
  };
  const pick = (node: number) => {
    if (node === -1) return;
    if (node === focus || (focus === -1 && at(tree.parents, node) === -1)) onOpen(node);
    else onFocus(node);
  };
  const press = (event: KeyboardEvent) => {
    const next = stepFlame(tree, marked === -1 ? focus : marked, event.key);
    if (next !== undefined) mark(next);
    else if (event.key === "Enter") pick(marked);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={scrollRef}
      className="relative min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable]"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div style={{ height: levels * levelPx }}>
        <canvas
          ref={canvasRef}
          role="application"
          tabIndex={0}
          aria-label={`Flame graph by ${weight}. Arrow keys go to the bars above, below and beside; Enter shows one across the whole width.`}
          className="sticky top-0 block"
          style={{ width, height, cursor: marked === -1 ? "default" : "pointer" }}
          onMouseMove={(event) => mark(barAt(event))}
          onMouseLeave={() => mark(-1)}
          onClick={(event) => pick(barAt(event))}
          onKeyDown={press}
        />
      </div>
    </div>
  );
}

type Picture = {
  model: TraceModel;
  tree: FlameTree;
  bars: readonly FlameBar[];
  width: number;
  height: number;
  top: number;
  marked: number;
};

const leastTextPx = 36;
const charPx = 6;

function paint(canvas: HTMLCanvasElement, { model, tree, bars, width, height, top, marked }: Picture): void {
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(scale, scale);
  const { spans } = model;
  const colors = new Map(spans.kindNames.map((kind) => [kind, readColor(kindStyle(kind).color)]));
  const [panel, text, crumbs, failed] = ["--panel", "--text", "--line-strong", "--error"].map(readColor);
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  for (const { node, x, width: wide, level } of bars) {
    const y = level * levelPx - top;
    const span = tree.spans[node];
    const isFailed = span !== undefined && at(tree.counts, node) === 1 && hasFlag(spans, span, "failed");
    const color = span === undefined ? crumbs : isFailed ? failed : colors.get(kindOf(spans, span));
    context.globalAlpha = node === marked && node !== -1 ? 0.6 : 0.34;
    context.fillStyle = color ?? "";
    context.fillRect(x, y + 1, Math.max(wide - 1, 0.5), levelPx - 2);
    context.globalAlpha = 1;
    if (span === undefined || wide < leastTextPx) continue;
    context.fillRect(x, y + 1, 2, levelPx - 2);
    const count = at(tree.counts, node);
    const label = visibleLine(labelOf(spans, span).slice(0, Math.ceil(wide / 4)));
    context.fillStyle = text ?? panel ?? "";
    context.fillText(truncate(count > 1 ? `${label} ×${count}` : label, wide), x + 7, y + levelPx / 2 + 0.5, wide - 10);
  }
}

function truncate(label: string, wide: number): string {
  const room = Math.floor((wide - 12) / charPx);
  return label.length <= room ? label : `${label.slice(0, Math.max(0, room - 1))}…`;
}
