import { useRef, useState, type ReactNode } from "react";
import { useSize } from "../use-size.ts";
import { Divider } from "./divider.tsx";

const leastPx = 320;

/** A resizable panel beside the trace; it covers the trace if there is no space for both. */
export function SidePanel({ label, children }: { label: string; children: ReactNode }): ReactNode {
  const ref = useRef<HTMLElement>(null);
  const { width } = useSize(ref);
  const [chosen, setChosen] = useState<number>();
  const most = Math.max(leastPx, (ref.current?.parentElement?.clientWidth ?? 0) - leastPx);
  return (
    <aside
      ref={ref}
      aria-label={label}
      className="relative flex w-[44%] min-w-80 shrink-0 flex-col border-line bg-panel lg:border-l max-lg:absolute max-lg:inset-0 max-lg:z-30 max-lg:w-full!"
      style={chosen === undefined ? undefined : { width: chosen }}
    >
      <Divider
        className="max-lg:hidden"
        label="Width of the span"
        value={Math.round(width)}
        isFromRight
        min={leastPx}
        max={most}
        onChange={setChosen}
      />
      {children}
    </aside>
  );
}
