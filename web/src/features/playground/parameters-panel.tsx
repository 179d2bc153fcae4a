import type { ReactNode } from "react";
import { Field, Input, TextArea } from "../../ui/input.tsx";
import { Panel } from "../../ui/panel.tsx";
import type { Draft, Problems } from "./draft.ts";

type PanelProps = { draft: Draft; problems: Problems; onChange: (change: Partial<Draft>) => void };

export function ParametersPanel({ draft, problems, onChange }: PanelProps): ReactNode {
  const number = (name: "temperature" | "max_tokens" | "top_p", label: string) => (
    <Field label={label} error={problems[name]}>
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          placeholder="default"
          className="figures"
          value={draft[name]}
          onChange={({ target }) => onChange({ [name]: target.value })}
        />
      )}
    </Field>
  );
  const json = (name: "tools" | "more", label: string, placeholder: string) => (
    <Field label={label} error={problems[name]}>
      {(control) => (
        <TextArea
          {...control}
          rows={Math.min(16, Math.max(2, draft[name].split("\n", 16).length))}
          placeholder={placeholder}
          spellCheck={false}
          className="font-mono text-sm"
          value={draft[name]}
          onChange={({ target }) => onChange({ [name]: target.value })}
        />
      )}
    </Field>
  );
  return (
    <Panel title="Parameters">
      <div className="flex flex-col gap-3 p-3">
        <div className="grid grid-cols-3 gap-2">
          {number("temperature", "Temperature")}
          {number("max_tokens", "Max tokens")}
          {number("top_p", "Top p")}
        </div>
        {json("more", "More, as JSON", '{"seed": 1}')}
        {json("tools", "Tools, as JSON", '[{"type": "function", "function": {"name": "…"}}]')}
      </div>
    </Panel>
  );
}
