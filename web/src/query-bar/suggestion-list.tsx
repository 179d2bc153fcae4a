import type { ReactNode } from "react";
import { formatInteger } from "../lib/format.ts";
import { visibleLine } from "../lib/visible-text.ts";
import type { Place, Suggestion } from "./complete.ts";

type ListProps = {
  id: string;
  place: Place | undefined;
  suggestions: readonly Suggestion[];
  chosen: number;
  onTake: (suggestion: Suggestion) => void;
  problem: string | undefined;
};

/** The suggestions at the cursor. A click must not take the focus from the input. */
export function SuggestionList({ id, place, suggestions, chosen, onTake, problem }: ListProps): ReactNode {
  const hint = place?.wants === "value" && suggestions.length === 0 ? place.field.help : undefined;
  if (suggestions.length === 0 && problem === undefined && hint === undefined) return null;
  return (
    <div className="absolute top-full left-0 z-30 mt-1 w-full max-w-xl overflow-hidden rounded-md border border-line-strong bg-panel shadow-[0_4px_16px_var(--float)]">
      {problem !== undefined && (
        <p role="alert" className="border-b border-line px-3 py-1.5 text-xs text-error">
          {visibleLine(problem)}
        </p>
      )}
      {hint !== undefined && <p className="px-3 py-1.5 text-xs text-muted">{hint}</p>}
      <ul id={id} role="listbox" aria-label="Suggestions" className="max-h-80 overflow-auto">
        {suggestions.map((suggestion, at) => (
          // The text field has the focus and the keys.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={suggestion.label}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === chosen}
            className={`flex h-row items-center gap-3 px-3 ${at === chosen ? "bg-accent-soft" : "hover:bg-raised"}`}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onTake(suggestion)}
          >
            <bdi className="truncate font-mono text-sm">{visibleLine(suggestion.label)}</bdi>
            <span className="ml-auto truncate text-xs text-faint">{suggestion.detail}</span>
            {suggestion.count !== undefined && (
              <span className="figures text-muted">{formatInteger(suggestion.count)}</span>
            )}
          </li>
        ))}
      </ul>
      {place?.wants === "value" && <Operators kind={place.field.kind} />}
    </div>
  );
}

const keys: Readonly<Record<string, string>> = {
  text: ": is   ~ contains   ^= starts with   $= ends with   a,b any of   - excludes",
  dynamic: ": is   ~ contains   < <= > >= compare   a,b any of   - excludes",
  number: ": is   < <= > >= compare   a,b any of",
  time: "< <= > >= compare",
  boolean: ": true or false",
};

function Operators({ kind }: { kind: string }): ReactNode {
  return (
    <p className="border-t border-line bg-bg px-3 py-1 font-mono text-2xs whitespace-pre text-faint">{keys[kind]}</p>
  );
}
