import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Select } from "../../ui/select.tsx";
import { useMetadataKeys } from "../series/metadata-keys.ts";
import type { Scope } from "../series/queries.ts";

const fields = [
  ["none", "nothing"],
  ["model", "model"],
  ["customer", "customer"],
  ["name", "span name"],
  ["type", "kind of span"],
  ["provider", "provider"],
  ["workflow", "workflow"],
  ["status", "status"],
  ["code", "status code"],
  ["key_id", "API key"],
] as const;

const named = (value: string) => ({ value, label: visibleLine(value) });

type MenuProps = { scope: Scope; value: string; onChange: (by: string) => void };

/** Chooses what a chart is grouped by: a field, or a metadata key of the spans. */
export function BreakdownMenu({ scope, value, onChange }: MenuProps): ReactNode {
  const keys = useMetadataKeys(scope).map((key) => `metadata.${key}`);
  const options = [...fields.map(([word, label]) => ({ value: word as string, label })), ...keys.map(named)];
  const isKnown = options.some((option) => option.value === value);
  return (
    <label className="flex items-center gap-1.5 text-muted">
      by
      <Select
        value={value}
        options={isKnown ? options : [...options, named(value)]}
        onValueChange={onChange}
        className="w-40 text-text"
      />
    </label>
  );
}
