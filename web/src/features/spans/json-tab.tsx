import type { ReactNode } from "react";
import { indentedJson } from "../../lib/indented-json.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { useWholeSpan } from "./span-queries.ts";

/** Every member of the span, as the API returns it. */
export function JsonTab({ id }: { id: string }): ReactNode {
  const span = useWholeSpan(id);
  if (span.data === undefined) {
    return span.error === null ? (
      <p className="p-3 text-muted">Loading all members of the span …</p>
    ) : (
      <ErrorPanel error={span.error} onRetry={() => void span.refetch()} />
    );
  }
  const whole = span.data;
  return (
    <div className="flex h-full flex-col">
      <div className="flex h-8 shrink-0 items-center gap-2 border-b border-line px-3 text-xs text-muted">
        <span className="truncate">Arrows move and open, c copies a value, p its path.</span>
        <span className="ml-auto">
          <CopyButton label="Copy all as JSON" text={() => indentedJson(whole)} />
        </span>
      </div>
      <div className="min-h-0 flex-1 py-1">
        <JsonTree value={whole} maxHeight="fill" label="Members of the span" />
      </div>
    </div>
  );
}
