import { useCallback, useEffect, useState, type KeyboardEvent, type RefObject } from "react";
import { applySuggestion, placeAt, suggest, type KnownValues, type Place, type Suggestion } from "./complete.ts";
import { parseQuery } from "./parse-query.ts";

export type DraftOptions = {
  /** The applied query. */
  value: string;
  onCommit: (text: string) => void;
  /** Called with each edit, for forms in which the text applies without Enter. */
  onDraft?: ((text: string) => void) | undefined;
  /** Known values for the place at the cursor, which is passed to `onPlace`. */
  known: KnownValues;
  onPlace: (place: Place | undefined) => void;
  input: RefObject<HTMLInputElement | null>;
};

/** The state of the input: text, cursor, suggestions and problem. */
export function useQueryDraft({ value, onCommit, onDraft, known, onPlace, input }: DraftOptions) {
  const [draft, setText] = useState(value);
  const [cursor, setCursor] = useState<number>();
  const [chosen, setChosen] = useState(-1);
  useEffect(() => setText(value), [value]);

  const isOpen = cursor !== undefined;
  const place = isOpen ? placeAt(draft, cursor) : undefined;
  const suggestions = place === undefined ? [] : suggest(place, known);
  const placeKey = place && (place.wants === "field" ? "field" : `${place.field.name}:${place.typed}`);
  // The place itself is a new object on each key.
  // oxlint-disable-next-line react/exhaustive-deps
  useEffect(() => onPlace(place), [placeKey, onPlace]);

  const { problems, tokens } = parseQuery(draft);
  const typing = tokens.find(({ from, to }) => isOpen && from < cursor && cursor <= to);
  // A word that is still being typed is not reported as incomplete.
  const problem = problems.find(({ from }) => typing?.isUnfinished !== true || from !== typing.from);

  const setDraft = (text: string): void => {
    setText(text);
    onDraft?.(text);
  };
  const commit = (text: string): void => {
    if (parseQuery(text).problems.length > 0) return;
    setText(text.trim());
    setCursor(undefined);
    onCommit(text.trim());
  };
  const take = ({ insert }: Suggestion): void => {
    if (place === undefined) return;
    const applied = applySuggestion(draft, place.replaces, insert);
    setDraft(applied.text);
    setCursor(applied.cursor);
    setChosen(-1);
    requestAnimationFrame(() => input.current?.setSelectionRange(applied.cursor, applied.cursor));
  };
  const step = (by: 1 | -1): void => {
    const places = suggestions.length + 1;
    setChosen((at) => ((at + 1 + by + places) % places) - 1);
  };
  const follow = useCallback(() => {
    setCursor(input.current?.selectionStart ?? 0);
    setChosen(-1);
  }, [input]);
  const keys = { chosen: suggestions[chosen], first: suggestions[0], isTyping: typing !== undefined };
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = actionOf(event, keys);
    if (action === undefined) return;
    event.preventDefault();
    if (action === "commit") commit(draft);
    else if (action === "close") setCursor(undefined);
    else if (action === "leave") input.current?.blur();
    else if (action === "next" || action === "previous") step(action === "next" ? 1 : -1);
    else take(action);
  };
  return {
    draft,
    setDraft,
    place,
    suggestions,
    chosen,
    problem,
    isOpen,
    commit,
    take,
    follow,
    onKeyDown,
    close: () => setCursor(undefined),
  };
}

type Keys = { chosen: Suggestion | undefined; first: Suggestion | undefined; isTyping: boolean };

function actionOf(
  { key, shiftKey, metaKey, ctrlKey }: KeyboardEvent,
  { chosen, first, isTyping }: Keys,
): Suggestion | "commit" | "close" | "leave" | "next" | "previous" | undefined {
  if (key === "Enter") return chosen === undefined || metaKey || ctrlKey ? "commit" : chosen;
  if (key === "Escape") return first === undefined ? "leave" : "close";
  if (first === undefined) return undefined;
  if (key === "ArrowDown") return "next";
  if (key === "ArrowUp") return "previous";
  // Tab completes the word at the cursor, and leaves the field if there is none.
  return key === "Tab" && !shiftKey && isTyping ? (chosen ?? first) : undefined;
}
