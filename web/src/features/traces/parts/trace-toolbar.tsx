import type { ReactNode, Ref } from "react";
import { formatInteger } from "../../../lib/format.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Icon, type IconName } from "../../../ui/icon.tsx";
import { Kbd } from "../../../ui/kbd.tsx";
import type { TraceModel } from "../model/trace-model.ts";
import type { ChangeSearch, TraceSearch } from "../search.ts";
import type { Steps } from "../use-steps.ts";
import type { Zoom } from "../use-zoom.ts";
import { FindBox } from "./find-box.tsx";
import { KindsMenu } from "./kinds-menu.tsx";

type TraceToolbarProps = {
  model: TraceModel;
  search: TraceSearch;
  change: ChangeSearch;
  steps: Steps;
  zoom: Zoom;
  matches: Int32Array | undefined;
  findRef: Ref<HTMLInputElement>;
};

/** View options of the trace, and jumps to failures, slow spans and matches. */
export function TraceToolbar(props: TraceToolbarProps): ReactNode {
  const { model, search, change, steps, zoom, matches, findRef } = props;
  const isFlame = search.tab === "flame";
  return (
    <div className="@container border-y border-line px-4 py-1.5">
      <div className="flex flex-wrap items-center gap-2">
        <div role="tablist" aria-label="View" className="flex h-7 rounded-md border border-line bg-raised p-px">
          <Tab label="Tree" icon="trace" isOn={!isFlame} onPick={() => change({ tab: undefined })} />
          <Tab label="Flame graph" icon="flame" isOn={isFlame} onPick={() => change({ tab: "flame" })} />
        </div>
        {!isFlame && (
          <>
            <FindBox
              inputRef={findRef}
              value={search.find ?? ""}
              matches={matches}
              steps={steps}
              onChange={(find) => change({ find: find.trim() === "" ? undefined : find }, { replace: true })}
            />
            <KindsMenu model={model} search={search} change={change} />
            <Jump
              label={`${formatInteger(model.failed.length)} ${model.failed.length === 1 ? "error" : "errors"}`}
              keys="e"
              title="Open the next span that failed (e; back: E)"
              isOff={model.failed.length === 0}
              onPick={() => steps.toError(1)}
            />
            <Jump
              label="Slowest"
              keys="s"
              title="Open the call or tool that took the most time, then the next (s; back: S)"
              isOff={model.slowest.length === 0}
              onPick={() => steps.toSlow(1)}
            />
            <label className="flex h-7 items-center gap-1.5" title="Show what the end of the trace waited for (p)">
              <Checkbox
                checked={search.path !== "off"}
                onCheckedChange={(isOn) => change({ path: isOn ? undefined : "off" }, { replace: true })}
              />
              Critical path
            </label>
            {!zoom.isWhole && (
              <Jump label="Whole trace" keys="0" title="Show all of the time (0)" onPick={zoom.reset} />
            )}
          </>
        )}
      </div>
    </div>
  );
}

type TabProps = { label: string; icon: IconName; isOn: boolean; onPick: () => void };

function Tab({ label, icon, isOn, onPick }: TabProps): ReactNode {
  return (
    <button
      type="button"
      role="tab"
      aria-selected={isOn}
      aria-label={label}
      title={label}
      className={`flex items-center gap-1.5 rounded-[5px] px-2 ${isOn ? "bg-panel text-text" : "text-muted hover:text-text"}`}
      onClick={onPick}
    >
      <Icon name={icon} size={14} />
      <span className="@max-3xl:hidden">{label}</span>
    </button>
  );
}

type JumpProps = { label: string; keys: string; title: string; isOff?: boolean; onPick: () => void };

function Jump({ label, keys, title, isOff = false, onPick }: JumpProps): ReactNode {
  return (
    <Button disabled={isOff} title={title} onClick={onPick}>
      {label}
      <span className="@max-3xl:hidden">
        <Kbd keys={keys} />
      </span>
    </Button>
  );
}
