import { useState, type ReactNode } from "react";
import type { MessageForm } from "../messages/message-form.ts";

const key = "spanway.message-form";

/** The last choice in this browser. */
export function useStoredForm(): [MessageForm, (form: MessageForm) => void] {
  const [form, setForm] = useState<MessageForm>(() => (stored() === "text" ? "text" : "markdown"));
  const change = (next: MessageForm): void => {
    setForm(next);
    try {
      localStorage.setItem(key, next);
    } catch {
      // The choice is lost if storage is unavailable.
    }
  };
  return [form, change];
}

function stored(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

const forms: ReadonlyArray<readonly [MessageForm, string]> = [
  ["markdown", "Markdown"],
  ["text", "Text"],
];

export function FormSwitch({ form, onForm }: { form: MessageForm; onForm: (form: MessageForm) => void }): ReactNode {
  return (
    <div role="group" aria-label="Form of texts" className="flex rounded-md border border-line text-xs">
      {forms.map(([name, label]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === form}
          onClick={() => onForm(name)}
          className={`px-2 first:rounded-l-md last:rounded-r-md ${name === form ? "bg-raised text-text" : "text-muted hover:text-text"}`}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
