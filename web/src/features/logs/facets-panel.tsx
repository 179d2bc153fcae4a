import { useMemo, useState, type ReactNode } from "react";
import { toggleValue } from "../../query-bar/edit-query.ts";
import { familyOf } from "../../query-bar/fields.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Facet } from "./facet.tsx";
import { useFacets } from "./queries.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";

const fields: ReadonlyArray<readonly [name: string, title: string]> = [
  ["status", "Status"],
  ["model", "Model"],
  ["log_type", "Type"],
  ["span_name", "Name"],
  ["customer_identifier", "Customer"],
  ["provider_id", "Provider"],
  ["status_code", "Status code"],
];
const names = fields.map(([name]) => name);

/** The values of fields and their counts. A click adds a value to the query. */
export function FacetsPanel({ scope, onQuery }: { scope: QueryScope; onQuery: (text: string) => void }): ReactNode {
  const facets = useFacets(scope, names, { limit: 8 });
  const keys = facets.data?.metadataKeys ?? [];
  const onToggle = (field: string, value: string, negated: boolean): void =>
    onQuery(toggleValue(scope.query, { field, value, negated }));
  if (facets.data === undefined && scope.problem !== undefined)
    return <p className="px-3 py-2 text-xs text-faint">Values are counted once the query can be read.</p>;
  if (facets.error !== null) return <ErrorPanel error={facets.error} onRetry={() => void facets.refetch()} />;
  return (
    <div className={`transition-opacity ${facets.isPlaceholderData ? "opacity-70" : ""}`}>
      {fields.map(([name, title]) => (
        <Facet
          key={name}
          field={name}
          title={title}
          values={facets.data?.facets.get(name)}
          scope={scope}
          onToggle={onToggle}
        />
      ))}
      {keys.length > 0 && (
        <h2 className="border-t border-line px-3 pt-3 pb-1 text-2xs font-medium tracking-wide text-faint uppercase">
          Metadata
        </h2>
      )}
      {keys.map(({ key }) => (
        <MetadataFacet key={key} name={`metadata__${key}`} scope={scope} onToggle={onToggle} />
      ))}
    </div>
  );
}

type MetadataProps = {
  name: string;
  scope: QueryScope;
  onToggle: (field: string, value: string, negated: boolean) => void;
};

/** Metadata values are counted only once the section is opened: there may be many keys. */
function MetadataFacet({ name, scope, onToggle }: MetadataProps): ReactNode {
  const isEnabled = scope.query.includes(familyOf(name)?.key ?? name);
  const [isOpen, setOpen] = useState(isEnabled);
  const fieldNames = useMemo(() => (isOpen ? [name] : []), [isOpen, name]);
  const facets = useFacets(scope, fieldNames, { limit: 8 });
  const title = visibleLine(familyOf(name)?.key ?? name);
  return (
    <Facet
      field={name}
      title={title}
      values={isOpen ? facets.data?.facets.get(name) : undefined}
      scope={scope}
      isOpen={isOpen}
      onOpen={setOpen}
      onToggle={onToggle}
    />
  );
}
