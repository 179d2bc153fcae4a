import type { ReactNode } from "react";
import { indentedJson } from "../../lib/indented-json.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { useWholeSpan } from "./span-queries.ts";
import type { Span } from "./span-record.ts";

/** The raw request to the provider and its response. */
export function RequestTab({ id }: { id: string }): ReactNode {
  const span = useWholeSpan(id);
  if (span.data === undefined) {
    return span.error === null ? (
      <p className="p-3 text-muted">Loading request and response …</p>
    ) : (
      <ErrorPanel error={span.error} onRetry={() => void span.refetch()} />
    );
  }
  return (
    <>
      <Part title="Request as sent" span={span.data} member="full_request" />
      <Part title="Response as it came" span={span.data} member="full_response" />
      <Part title="Attempts" span={span.data} member="attempts" />
    </>
  );
}

function Part({ title, span, member }: { title: string; span: Span; member: string }): ReactNode {
  const value = span[member];
  const isAbsent = value === null || value === undefined || value === "";
  if (isAbsent && member === "attempts") return null;
  return (
    <section className="border-t border-line px-3 py-2 first:border-t-0">
      <header className="mb-1 flex h-5 items-center gap-2">
        <h3 className="text-xs font-semibold">{title}</h3>
        {!isAbsent && (
          <span className="ml-auto">
            <CopyButton
              label={`Copy ${member}`}
              text={() => (typeof value === "string" ? value : indentedJson(value))}
            />
          </span>
        )}
      </header>
      {isAbsent ? (
        <p className="text-muted">
          The sender did not state it (<code>{member}</code>). The gateway keeps it where it is not what the messages
          say already.
        </p>
      ) : (
        <JsonTree value={value} maxHeight={520} label={title} />
      )}
    </section>
  );
}
