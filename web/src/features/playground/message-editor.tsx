import { useState, type ReactNode } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { TextArea } from "../../ui/input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Select } from "../../ui/select.tsx";
import { nextId, roles, type DraftMessage, type Problems } from "./draft.ts";

type EditorProps = {
  messages: readonly DraftMessage[];
  problems: Problems;
  onChange: (messages: readonly DraftMessage[]) => void;
};

export function MessageEditor({ messages, problems, onChange }: EditorProps): ReactNode {
  const add = () => {
    const role = messages.at(-1)?.role === "user" ? "assistant" : "user";
    onChange([...messages, { id: nextId(messages), role, content: "", isJson: false, more: "" }]);
  };
  const move = (at: number, by: -1 | 1) => {
    const next = [...messages];
    const [moved] = next.splice(at, 1);
    if (moved !== undefined) next.splice(at + by, 0, moved);
    onChange(next);
  };
  return (
    <Panel title="Messages">
      {messages.map((message, at) => (
        <OneMessage
          key={message.id}
          message={message}
          label={`Message ${at + 1}`}
          problem={problems[`message ${message.id}`]}
          onChange={(change) => onChange(messages.map((each) => (each === message ? { ...each, ...change } : each)))}
          onRemove={() => onChange(messages.filter((each) => each !== message))}
          onUp={at === 0 ? undefined : () => move(at, -1)}
          onDown={at === messages.length - 1 ? undefined : () => move(at, 1)}
        />
      ))}
      <div className="flex items-center gap-2 p-2">
        <Button size="sm" icon="plus" onClick={add}>
          Add message
        </Button>
        {problems["messages"] !== undefined && <span className="text-xs text-error">{problems["messages"]}</span>}
      </div>
    </Panel>
  );
}

type OneProps = {
  message: DraftMessage;
  label: string;
  problem: string | undefined;
  onChange: (change: Partial<DraftMessage>) => void;
  onRemove: () => void;
  onUp: (() => void) | undefined;
  onDown: (() => void) | undefined;
};

function OneMessage({ message, label, problem, onChange, onRemove, onUp, onDown }: OneProps): ReactNode {
  const { role, content, isJson, more } = message;
  const [isMoreOpen, setMoreOpen] = useState(more !== "");
  const known = roles.some((each) => each === role) ? roles : [...roles, role];
  return (
    <div role="group" aria-label={label} className="border-b border-line p-2">
      <div className="mb-1 flex items-center gap-0.5">
        <Select
          aria-label="Role"
          value={role}
          options={known.map((value) => ({ value, label: value }))}
          onValueChange={(next) => onChange({ role: next })}
          className="mr-auto"
        />
        <IconButton
          size="sm"
          icon="code"
          label="Other members"
          aria-expanded={isMoreOpen}
          onClick={() => setMoreOpen(!isMoreOpen)}
        />
        <IconButton size="sm" icon="arrowUp" label="Move up" disabled={onUp === undefined} onClick={onUp} />
        <IconButton size="sm" icon="arrowDown" label="Move down" disabled={onDown === undefined} onClick={onDown} />
        <IconButton size="sm" icon="trash" label="Remove message" onClick={onRemove} />
      </div>
      <TextArea
        aria-label="Content"
        rows={Math.min(14, Math.max(2, content.split("\n", 14).length, Math.ceil(content.length / 60)))}
        placeholder={role === "system" ? "How the model should answer" : "What is said"}
        className={isJson ? "font-mono text-sm" : ""}
        value={content}
        onChange={({ target }) => onChange({ content: target.value })}
      />
      {isMoreOpen && (
        <TextArea
          aria-label="Other members as JSON"
          rows={Math.min(8, Math.max(2, more.split("\n", 8).length))}
          placeholder='{"tool_call_id": "call_1"}'
          className="mt-1 font-mono text-sm"
          spellCheck={false}
          value={more}
          onChange={({ target }) => onChange({ more: target.value })}
        />
      )}
      {isJson && <p className="text-xs text-muted">Content of several parts, as JSON.</p>}
      {problem !== undefined && (
        <p role="alert" className="text-xs text-error">
          {problem}
        </p>
      )}
    </div>
  );
}
