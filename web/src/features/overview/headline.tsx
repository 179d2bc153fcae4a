import type { ReactNode } from "react";
import { changeOf, type Change } from "../../charts/change.ts";
import { formatPercent } from "../../lib/format.ts";

type HeadlineProps = {
  value: string;
  title: string;
  now: number | null | undefined;
  before: number | null | undefined;
  isBad: boolean;
};

/** A figure and its change from the previous window. */
export function Headline({ value, title, now, before, isBad }: HeadlineProps): ReactNode {
  const change = changeOf(now, before);
  return (
    <span className="flex items-baseline gap-2" title={title}>
      <span className="text-xl font-semibold tabular-nums tracking-tight">{value}</span>
      {change !== undefined && <ChangeText change={change} isBad={isBad} />}
    </span>
  );
}

function ChangeText({ change, isBad }: { change: Change; isBad: boolean }): ReactNode {
  const { text, isMore } = wordsOf(change);
  const isSmall = change.kind === "ratio" && Math.abs(change.ratio) < 0.05;
  const tone = !isBad || isSmall || isMore === undefined ? "text-muted" : isMore ? "text-error" : "text-ok";
  return (
    <span className={`text-xs tabular-nums ${tone}`} title="Compared with the same length of time before">
      {text}
    </span>
  );
}

function wordsOf(change: Change): { text: string; isMore?: boolean } {
  if (change.kind === "same") return { text: "±0%" };
  if (change.kind === "new") return { text: "new", isMore: true };
  const { ratio } = change;
  const isMore = ratio > 0;
  // "×30" is clearer than "2,900 %".
  const size = ratio >= 9 ? `×${Math.round(ratio + 1)}` : formatPercent(Math.round(Math.abs(ratio) * 100));
  return { text: `${isMore ? "▲" : "▼"} ${size === "0%" ? "<1%" : size}`, isMore };
}
