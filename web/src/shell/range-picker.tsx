import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { presets, type Preset, type RangeSearch } from "../lib/range.ts";
import { formatMinute, fromInput, toInput, type TimeZone } from "../lib/time.ts";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Field, Input } from "../ui/input.tsx";
import { Popover } from "../ui/popover.tsx";
import { useTimeZone } from "../ui/value.tsx";
import { useRange } from "../ui/use-range.ts";

const names: Record<Preset, string> = {
  "15m": "Last 15 minutes",
  "1h": "Last hour",
  "6h": "Last 6 hours",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "14d": "Last 14 days",
  "30d": "Last 30 days",
};

/** Chooses the time window of a screen. */
export function RangePicker(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const zone = useTimeZone();
  const { preset, start, end } = useRange();
  const change = useChange();
  const long = preset === undefined ? `${formatMinute(start, zone)} – ${formatMinute(end, zone)}` : names[preset];
  return (
    <Popover
      label="Window of time"
      align="end"
      open={isOpen}
      onOpenChange={setOpen}
      className="p-0"
      trigger={
        <Button
          icon="clock"
          title={`${formatMinute(start, zone)} – ${formatMinute(end, zone)}, ${zone === "utc" ? "UTC" : "local time"}`}
        >
          <span className="max-md:hidden">{long}</span>
          <span className="md:hidden">{preset ?? "custom"}</span>
        </Button>
      }
    >
      <div className="flex max-sm:flex-col">
        <ul className="border-line p-1.5 max-sm:border-b sm:border-r">
          {(Object.keys(presets) as Preset[]).map((each) => (
            <li key={each}>
              <button
                type="button"
                aria-pressed={preset === each}
                className={cx(
                  "flex h-7 w-40 items-center rounded-sm px-2 text-left hover:bg-raised",
                  preset === each && "bg-accent-soft font-medium text-accent",
                )}
                onClick={() => {
                  change({ range: each });
                  setOpen(false);
                }}
              >
                {names[each]}
              </button>
            </li>
          ))}
        </ul>
        <Custom
          key={`${start} ${zone}`}
          zone={zone}
          start={start}
          end={end}
          onZone={(tz) => change({}, tz)}
          onApply={(from, to) => {
            change({ from, to });
            setOpen(false);
          }}
        />
      </div>
    </Popover>
  );
}

function useChange(): (range: RangeSearch, zone?: TimeZone) => void {
  const navigate = useNavigate();
  const now = useSearch({ strict: false });
  return (range, zone) => {
    const isDefault = Object.keys(range).length === 0;
    const ends = isDefault ? {} : { range: range.range, from: range.from, to: range.to };
    const tz = zone === undefined ? now.tz : zone === "utc" ? zone : undefined;
    void navigate({ to: ".", search: (search) => ({ ...search, ...ends, tz }) });
  };
}

function Custom({
  zone,
  start,
  end,
  onZone,
  onApply,
}: {
  zone: TimeZone;
  start: string;
  end: string;
  onZone: (zone: TimeZone) => void;
  onApply: (from: string, to: string) => void;
}): ReactNode {
  const [from, setFrom] = useState(toInput(start, zone));
  const [to, setTo] = useState(toInput(end, zone));
  const fromIso = fromInput(from, zone);
  const toIso = fromInput(to, zone);
  const isBackward = fromIso !== undefined && toIso !== undefined && fromIso >= toIso;
  return (
    <form
      className="flex w-60 flex-col gap-2 p-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (fromIso !== undefined && toIso !== undefined && !isBackward) onApply(fromIso, toIso);
      }}
    >
      <Field label="From">
        {(control) => (
          <Input {...control} type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} />
        )}
      </Field>
      <Field label="To" error={isBackward ? "Must be after the start." : undefined}>
        {(control) => (
          <Input {...control} type="datetime-local" value={to} onChange={(event) => setTo(event.target.value)} />
        )}
      </Field>
      <div className="flex items-center justify-between gap-2">
        <div role="group" aria-label="Time zone" className="flex rounded-md border border-line-strong p-px">
          {(["local", "utc"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={zone === each}
              onClick={() => onZone(each)}
              className={cx("h-6 rounded-[5px] px-2 text-sm", zone === each ? "bg-raised font-medium" : "text-muted")}
            >
              {each === "utc" ? "UTC" : "Local"}
            </button>
          ))}
        </div>
        <Button type="submit" variant="primary" disabled={fromIso === undefined || toIso === undefined || isBackward}>
          Apply
        </Button>
      </div>
    </form>
  );
}
