import { useMemo, type ReactNode } from "react";
import { formatInteger } from "../../../lib/format.ts";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Popover } from "../../../ui/popover.tsx";
import { countKinds, everyKind } from "../model/fold.ts";
import type { TraceModel } from "../model/trace-model.ts";
import type { ChangeSearch, TraceSearch } from "../search.ts";
import { KindMark } from "./kind-mark.tsx";
import { Untrusted } from "./untrusted.tsx";

type KindsMenuProps = { model: TraceModel; search: TraceSearch; change: ChangeSearch };

/** Chooses which kinds of spans are hidden and which are folded. */
export function KindsMenu({ model, search, change }: KindsMenuProps): ReactNode {
  const { fold = [], hide = [] } = search;
  const kinds = useMemo(() => countKinds(model.spans, model.failed), [model]);
  const set = (name: "fold" | "hide", kinds: string[]) => change({ [name]: kinds.length === 0 ? undefined : kinds });
  const flip = (name: "fold" | "hide", list: string[], kind: string) =>
    set(name, list.includes(kind) ? list.filter((each) => each !== kind) : [...list, kind]);
  return (
    <Popover
      label="Kinds of spans"
      className="w-80 p-1"
      trigger={
        <Button icon="filter">
          Kinds
          {hide.length > 0 && <span className="text-warn">{hide.length} hidden</span>}
          <Icon name="chevronDown" size={12} className="text-faint" />
        </Button>
      }
    >
      <ul className="max-h-80 overflow-y-auto">
        {kinds.map(({ kind, count, failed }) => (
          <li key={kind} className="flex h-row items-center gap-2 rounded-sm px-2 hover:bg-raised">
            <label className="flex min-w-0 flex-1 items-center gap-2">
              <Checkbox checked={!hide.includes(kind)} onCheckedChange={() => flip("hide", hide, kind)} />
              <KindMark kind={kind} />
              <span className="min-w-0 truncate">
                <Untrusted text={kind} />
              </span>
              <span className="figures ml-auto text-muted">{formatInteger(count)}</span>
            </label>
            {failed > 0 && <span className="figures text-error">{formatInteger(failed)} failed</span>}
            <Button
              size="sm"
              variant="ghost"
              onClick={() =>
                flip(
                  "fold",
                  fold.filter((each) => each !== everyKind),
                  kind,
                )
              }
            >
              {fold.includes(kind) ? "Expand" : "Collapse"}
            </Button>
          </li>
        ))}
      </ul>
      <div className="mt-1 flex gap-2 border-t border-line p-1.5 pt-2">
        <Button size="sm" onClick={() => change({ fold: [everyKind] })}>
          Collapse all
        </Button>
        <Button size="sm" onClick={() => change({ fold: undefined })}>
          Expand all
        </Button>
        {hide.length > 0 && (
          <Button size="sm" className="ml-auto" onClick={() => change({ hide: undefined })}>
            Show all
          </Button>
        )}
      </div>
    </Popover>
  );
}
