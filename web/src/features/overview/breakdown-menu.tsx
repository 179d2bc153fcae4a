import type { ReactNode } from "react";
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

type MenuProps = { scope: Scope; value: string; onChange: (by: string) => void };

/** Chooses what a chart is grouped by: a field, or a metadata key of the spans. */
export function BreakdownMenu({ scope, value, onChange }: MenuProps): ReactNode {
  const keys = useMetadataKeys(scope).map((key) => `metadata.${key}`);
  const options = [
    ...fields.map(([word, label]) => ({ value: word as string, label })),
    ...keys.map((key) => ({ value: key, label: key })),
  ];
  const isKnown = options.some((option) => option.value === value);
  return (
    <label className="flex items-center gap-1.5 text-muted">
      by
      <Select
        value={value}
        options={isKnown ? options : [...options, { value, label: value }]}
        onValueChange={onChange}
        className="w-40 text-text"
      />
    </label>
  );
}
