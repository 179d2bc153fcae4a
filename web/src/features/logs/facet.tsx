import { useMemo, useState, type ReactNode } from "react";
import { formatCount, formatNumberOf } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { valueState } from "../../query-bar/edit-query.ts";
import { Icon } from "../../ui/icon.tsx";
import { useFacets, type FacetValue } from "./queries.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";

type FacetProps = {
  field: string;
  title: string;
  /** Undefined until they are loaded. */
  values: readonly FacetValue[] | undefined;
  scope: QueryScope;
  isOpen?: boolean;
  onOpen?: (isOpen: boolean) => void;
  onToggle: (field: string, value: string, negated: boolean) => void;
};

const fewValues = 8;

export function Facet({ field, title, values, scope, onToggle, ...controlled }: FacetProps): ReactNode {
  const [ownOpen, setOwnOpen] = useState(true);
  const [search, setSearch] = useState<string>();
  const { isOpen = ownOpen, onOpen = setOwnOpen } = controlled;
  const fields = useMemo(() => (search === undefined ? [] : [field]), [search, field]);
  const found = useFacets(scope, fields, { limit: 50, ...(search !== undefined && { search }) });
  const shown = search === undefined ? values : (found.data?.facets.get(field) ?? values);
  const most = Math.max(1, ...(shown ?? []).map(({ count }) => count));
  if (values?.length === 0 && search === undefined && controlled.isOpen === undefined) return null;
  return (
    <section className="border-t border-line first:border-t-0">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex h-row w-full items-center gap-1.5 px-3 text-xs font-medium text-muted hover:text-text"
        onClick={() => onOpen(!isOpen)}
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
        <bdi className="truncate">{title}</bdi>
      </button>
      {isOpen && (
        <div className="pb-2">
          {search !== undefined && (
            <input
              // Somebody asked for it by a click.
              // oxlint-disable-next-line jsx-a11y/no-autofocus
              autoFocus
              aria-label={`Search in ${title}`}
              placeholder="Search values"
              className="mx-3 mb-1 h-6 w-[calc(100%-24px)] rounded-sm border border-line bg-bg px-2 text-xs"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          )}
          {shown === undefined && <p className="mx-3 my-1 h-3 w-24 animate-pulse rounded-sm bg-raised" />}
          {shown?.length === 0 && <p className="px-3 text-xs text-faint">No values</p>}
          {shown?.map((each) => (
            <Value
              key={each.value}
              each={each}
              most={most}
              state={valueState(scope.query, field, each.value)}
              onToggle={(negated) => onToggle(field, each.value, negated)}
            />
          ))}
          {(values?.length ?? 0) >= fewValues && search === undefined && (
            <button
              type="button"
              className="px-3 py-0.5 text-xs text-accent hover:underline"
              onClick={() => setSearch("")}
            >
              More…
            </button>
          )}
        </div>
      )}
    </section>
  );
}

type ValueProps = {
  each: FacetValue;
  most: number;
  state: ReturnType<typeof valueState>;
  onToggle: (negated: boolean) => void;
};

function Value({ each: { value, count }, most, state, onToggle }: ValueProps): ReactNode {
  const shown = visibleLine(value);
  return (
    <div className="group relative flex h-6 items-center px-3 hover:bg-raised">
      <span
        aria-hidden
        className="absolute inset-y-0.5 left-0 rounded-r-sm bg-accent-soft/60"
        style={{ width: `${(count / most) * 100}%` }}
      />
      <button
        type="button"
        aria-pressed={state === "included"}
        title={`${shown} — ${formatNumberOf(count, "span")}`}
        className={`relative flex min-w-0 flex-1 items-center gap-1.5 text-left text-sm ${state === "excluded" ? "text-faint line-through" : ""} ${state === "included" ? "font-medium text-accent" : ""}`}
        onClick={(event) => onToggle(event.altKey || state === "excluded")}
      >
        {state === "included" && <Icon name="check" size={12} />}
        <bdi className="truncate">{value === "" ? "(empty)" : shown}</bdi>
      </button>
      <button
        type="button"
        aria-label={`Exclude ${shown}`}
        title="Exclude"
        className="relative px-1 text-faint opacity-0 group-hover:opacity-100 hover:text-error focus-visible:opacity-100"
        onClick={() => onToggle(true)}
      >
        <Icon name="minus" size={12} />
      </button>
      <span className="figures relative text-muted">{formatCount(count)}</span>
    </div>
  );
}
