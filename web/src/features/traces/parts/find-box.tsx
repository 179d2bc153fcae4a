import { useEffect, useState, type KeyboardEvent, type ReactNode, type Ref } from "react";
import { formatInteger, unknown } from "../../../lib/format.ts";
import { Icon } from "../../../ui/icon.tsx";
import type { Steps } from "../use-steps.ts";

type FindBoxProps = {
  inputRef: Ref<HTMLInputElement>;
  value: string;
  matches: Int32Array | undefined;
  steps: Steps;
  onChange: (text: string) => void;
};

const settleMs = 200;

/** Searches the spans of the trace. Enter goes to the next match, Escape leaves. */
export function FindBox({ inputRef, value, matches, steps, onChange }: FindBoxProps): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(text), settleMs);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") {
      if (text !== value) onChange(text);
      else steps.toMatch(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      if (text === "") event.currentTarget.blur();
      else onChange("");
      setText("");
    } else return;
    event.preventDefault();
  };
  const place = matches === undefined ? -1 : matches.indexOf(steps.cursor);
  return (
    <div className="flex h-7 min-w-28 flex-1 items-center gap-1.5 rounded-md border border-line bg-panel px-2 focus-within:border-accent sm:max-w-80">
      <Icon name="search" size={14} className="text-faint" />
      <input
        ref={inputRef}
        type="text"
        role="searchbox"
        aria-label="Search in this trace"
        title="Searches names, models, errors and ids (/)"
        placeholder="Search"
        className="min-w-0 flex-1 bg-transparent outline-none placeholder:text-faint"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={press}
      />
      {matches !== undefined && (
        <span className="figures shrink-0 text-faint" role="status">
          {matches.length === 0
            ? "none"
            : `${place === -1 ? unknown : formatInteger(place + 1)} / ${formatInteger(matches.length)}`}
        </span>
      )}
    </div>
  );
}
