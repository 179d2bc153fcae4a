import { useMemo, type ReactNode } from "react";
import { parseQuery, type Token } from "./parse-query.ts";
import type { Range } from "./scanner.ts";

/** The query with syntax colours, under the input whose own text is transparent: both contain the same characters. */
export function HighlightedQuery({ text, scrolled }: { text: string; scrolled: number }): ReactNode {
  const parts = useMemo(() => colouredParts(text), [text]);
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-0 overflow-hidden font-mono text-sm leading-[26px] whitespace-pre"
    >
      <div style={{ transform: `translateX(${-scrolled}px)` }}>
        {parts.map(({ from, to, colour }) => (
          <span key={from} className={colour}>
            {text.slice(from, to)}
          </span>
        ))}
      </div>
    </div>
  );
}

type Part = Range & { colour: string };

function colouredParts(text: string): Part[] {
  const marked = parseQuery(text).tokens.flatMap(partsOf);
  const parts: Part[] = [];
  let at = 0;
  for (const part of marked.filter(({ from, to }) => from < to)) {
    if (part.from > at) parts.push({ from: at, to: part.from, colour: "" });
    if (part.from >= at) parts.push(part);
    at = Math.max(at, part.to);
  }
  if (at < text.length) parts.push({ from: at, to: text.length, colour: "" });
  return parts;
}

function partsOf({ from, to, field, operator, values, problem, isUnfinished, term }: Token): Part[] {
  const wrong =
    problem !== undefined && isUnfinished !== true
      ? " underline decoration-error decoration-wavy underline-offset-4"
      : "";
  const sign = { from, to: field?.from ?? values[0]?.from ?? to, colour: `text-error${wrong}` };
  if (field === undefined || operator === undefined) {
    return [sign, { from: sign.to, to, colour: `${term === undefined ? "text-muted" : "text-text"}${wrong}` }];
  }
  return [
    sign,
    { ...field, colour: `text-accent${wrong}` },
    { from: operator.from, to: operator.to, colour: `text-faint${wrong}` },
    ...values.map((value) => ({ from: value.from, to: value.to, colour: `text-text${wrong}` })),
  ];
}
