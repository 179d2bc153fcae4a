import { useRef, useState, type ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import type { Place } from "../../query-bar/complete.ts";
import { QueryBar } from "../../query-bar/query-bar.tsx";
import { Button } from "../../ui/button.tsx";
import { useKnownValues } from "./known-values.ts";

type QueryFieldProps = {
  label: string;
  hint: string;
  /** Undefined if the query language cannot express the filters. */
  value: string | undefined;
  /** A description of those filters. */
  stored?: string;
  onChange: (query: string) => void;
  /** The window whose values are suggested. */
  window: Pick<Window, "start" | "end">;
  error: string | undefined;
};

/** A query as a form field: its text applies without Enter. */
export function QueryField({ label, hint, value, stored, onChange, window, error }: QueryFieldProps): ReactNode {
  const [place, setPlace] = useState<Place>();
  const input = useRef<HTMLInputElement>(null);
  const known = useKnownValues(window, place);
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm font-medium text-muted">{label}</span>
      {value === undefined ? (
        <div className="flex flex-col items-start gap-1 text-sm text-muted">
          {stored !== undefined && <code className="text-text [overflow-wrap:anywhere]">{stored}</code>}
          <p>Its filters were set through the API and cannot be expressed as a query. They are kept.</p>
          <Button size="sm" onClick={() => onChange("")}>
            Replace them
          </Button>
        </div>
      ) : (
        // Escape closes the suggestions, not the dialog around the form.
        <div
          role="presentation"
          className="flex"
          onKeyDown={(event) => event.key === "Escape" && event.stopPropagation()}
        >
          <QueryBar
            value={value}
            input={input}
            known={known}
            onPlace={setPlace}
            onCommit={onChange}
            onDraft={onChange}
          />
        </div>
      )}
      {value !== undefined && <p className="text-xs text-faint">{hint}</p>}
      {error !== undefined && (
        <p role="alert" className="text-xs text-error">
          {error}
        </p>
      )}
    </div>
  );
}
