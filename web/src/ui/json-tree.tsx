import { useVirtualizer } from "@tanstack/react-virtual";
import { useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { canOpen, parentOf, pathText, startTree, toggleRow, valueText, type JsonRow } from "./json-tree-rows.ts";
import { JsonTreeRow } from "./json-tree-row.tsx";

const rowHeight = 20;
const charWidth = 7.3;
const startWidth = 560;

/**
 * A JSON value that expands row by row. Only visible rows are in the page, so its size does not matter. `maxHeight` in
 * pixels, or "fill" for the height of the parent.
 */
export function JsonTree({
  value,
  maxHeight,
  label,
}: {
  value: unknown;
  maxHeight: number | "fill";
  label?: string;
}): ReactNode {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const lineChars = (): number =>
    Math.max(24, Math.floor(((scroller.current?.clientWidth ?? startWidth) - 90) / charWidth));
  const [tree, setTree] = useState(() => ({ value, rows: startTree(value, { lineChars: 64 }), at: 0 }));
  const current = useMemo(
    () => (tree.value === value ? tree : { value, rows: startTree(value, { lineChars: 64 }), at: 0 }),
    [tree, value],
  );
  const { rows, at } = current;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialRect: { width: startWidth, height: maxHeight === "fill" ? 800 : maxHeight },
  });
  const goTo = (next: number): void => {
    const within = Math.max(0, Math.min(rows.length - 1, next));
    setTree({ ...current, at: within });
    virtualizer.scrollToIndex(within);
  };
  const toggle = (index: number): void =>
    setTree({ value, rows: toggleRow(rows, index, { lineChars: lineChars() }), at: index });

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const opens = canOpen(row, { lineChars: lineChars() });
    const action = actionOf(event.key, row, opens);
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (action === "toggle") toggle(at);
    else if (action === "copy value") copy(copiedOf(row));
    else if (action === "copy path") copy(pathText(row.path));
    else goTo({ next: at + 1, previous: at - 1, first: 0, last: rows.length - 1, parent: parentOf(rows, at) }[action]);
  };

  const total = rows.length * rowHeight;
  return (
    <div
      ref={scroller}
      role="tree"
      tabIndex={0}
      aria-label={label ?? "JSON"}
      aria-activedescendant={`${id}${at}`}
      onKeyDown={onKeyDown}
      className={`overflow-auto font-mono text-sm ${maxHeight === "fill" ? "h-full" : ""}`}
      style={maxHeight === "fill" ? {} : { maxHeight, height: total + (total > maxHeight ? 0 : 4) }}
    >
      <div className="relative min-w-full" style={{ height: total }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <JsonTreeRow
              key={row.id}
              id={`${id}${index}`}
              row={row}
              top={start}
              isCurrent={index === at}
              opens={canOpen(row, { lineChars: 64 })}
              onToggle={() => toggle(index)}
              onCopy={(what) => copy(what === "path" ? pathText(row.path) : copiedOf(row))}
            />
          );
        })}
      </div>
    </div>
  );
}

type Action = "toggle" | "copy value" | "copy path" | "next" | "previous" | "first" | "last" | "parent";

function actionOf(key: string, { isOpen }: JsonRow, opens: boolean): Action | undefined {
  if (key === "Enter" || key === " ") return opens ? "toggle" : undefined;
  if (key === "ArrowRight") return opens && !isOpen ? "toggle" : "next";
  if (key === "ArrowLeft") return isOpen ? "toggle" : "parent";
  const others: Readonly<Record<string, Action>> = {
    ArrowDown: "next",
    ArrowUp: "previous",
    Home: "first",
    End: "last",
    c: "copy value",
    p: "copy path",
  };
  return Object.hasOwn(others, key) ? others[key] : undefined;
}

/** The value of a row; for a line of a text, that line. */
function copiedOf({ content }: JsonRow): string {
  if (content.kind === "line") return content.text;
  if (content.kind === "more") return content.text.slice(content.from);
  if (content.kind === "value") return valueText(content.value);
  const { value, keys, from, to } = content;
  if (keys === undefined) return valueText((value as unknown[]).slice(from, to));
  const members = keys.slice(from, to).map((key) => [key, (value as Record<string, unknown>)[key]]);
  return valueText(Object.fromEntries(members));
}

function copy(text: string): void {
  void navigator.clipboard.writeText(text);
}
