import type { ReactNode } from "react";
import { placeIn, type Place } from "../model/axis.ts";
import { at } from "../model/at.ts";
import { hasFlag, kindOf } from "../model/trace-spans.ts";
import { kindColor } from "../kinds.ts";
import type { RowScene } from "../trace-context.ts";

/** Only wider bars have space for the first-token mark. */
const wideShare = 0.03;

const percent = (share: number): string => `${(share * 100).toFixed(4)}%`;

/** A span's time range in the window: a bar, or a mark if it has no duration. The critical path has full colour. */
export function SpanBar({ scene, index }: { scene: RowScene; index: number }): ReactNode {
  const { model, window, path } = scene;
  const { spans, bounds } = model;
  const color = hasFlag(spans, index, "failed") ? "var(--error)" : kindColor(kindOf(spans, index));
  const [start, finish] = [at(spans.starts, index), at(spans.finishes, index)];
  const place = placeIn(window, bounds.startMs, start, finish);
  if (place === undefined) return <OutsideMark isBefore={finish - bounds.startMs < window.from} />;
  if (finish === start) return <Moment place={place} color={color} />;
  const firstToken =
    wideShare < place.width && placeIn(window, bounds.startMs, start + at(spans.firstTokens, index), finish);
  return (
    <>
      <div
        className="absolute top-[9px] h-[10px] min-w-[2px] rounded-[2px]"
        style={{
          left: percent(place.left),
          width: percent(place.width),
          background: color,
          opacity: path === undefined ? 0.9 : 0.32,
        }}
      />
      {path?.get(index)?.map(({ from, to }) => (
        <Segment key={from} place={placeIn(window, bounds.startMs, from, to)} color={color} />
      ))}
      {firstToken && !firstToken.isCutLeft && (
        <div
          data-mark="first token"
          className="absolute top-[9px] h-[10px] w-[2px] bg-panel"
          style={{ left: percent(firstToken.left) }}
        />
      )}
    </>
  );
}

/** Thinner segments are not drawn: one span could have hundreds per pixel. */
const leastShare = 0.0004;

function Segment({ place, color }: { place: Place | undefined; color: string }): ReactNode {
  if (place === undefined || place.width < leastShare) return null;
  return (
    <div
      className="absolute top-[9px] h-[10px] min-w-[2px] rounded-[2px]"
      style={{ left: percent(place.left), width: percent(place.width), background: color }}
    />
  );
}

function Moment({ place, color }: { place: Place; color: string }): ReactNode {
  return (
    <div
      data-mark="moment"
      className="absolute top-[10px] size-2 -translate-x-1 rotate-45 border-[1.5px]"
      style={{ left: percent(place.left), borderColor: color }}
    />
  );
}

/** Marks a bar outside the window, to the left or right. */
function OutsideMark({ isBefore }: { isBefore: boolean }): ReactNode {
  return (
    <span aria-hidden className={`absolute top-1 text-faint ${isBefore ? "left-1" : "right-1"}`}>
      {isBefore ? "‹" : "›"}
    </span>
  );
}
