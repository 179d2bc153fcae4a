import { useId, useState, type ReactNode } from "react";
import { IconButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Icon } from "../ui/icon.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { useIsNarrow } from "../ui/use-is-narrow.ts";
import { HighlightedQuery } from "./highlighted-query.tsx";
import { SuggestionList } from "./suggestion-list.tsx";
import { useQueryDraft, type DraftOptions } from "./use-query-draft.ts";

const example = 'model:gpt-4o cost>0.01 status:error metadata.plan:pro "exact words"';
const shortExample = "model:gpt-4o status:error";

/** An input for the query, with completion. Enter applies it unless it has a problem. */
export function QueryBar(options: DraftOptions): ReactNode {
  const { draft, problem, suggestions, chosen, isOpen, ...typing } = useQueryDraft(options);
  const [scrolled, setScrolled] = useState(0);
  const listId = useId();
  const { value, input } = options;
  const isNarrow = useIsNarrow();
  return (
    <div className="relative min-w-0 flex-[1_1_280px]">
      <div
        className={cx(
          "flex h-7 items-center gap-2 rounded-md border bg-panel pl-2 focus-within:border-accent",
          problem === undefined ? "border-line-strong" : "border-error",
        )}
      >
        <Icon name="search" className="text-faint" />
        <div className="relative h-full min-w-0 flex-1">
          <HighlightedQuery text={draft} scrolled={scrolled} />
          <input
            ref={input}
            type="text"
            role="combobox"
            aria-label="Query"
            aria-expanded={isOpen && suggestions.length > 0}
            aria-controls={listId}
            aria-activedescendant={chosen >= 0 ? `${listId}-${chosen}` : undefined}
            aria-invalid={problem !== undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder={isNarrow ? shortExample : example}
            className="absolute inset-0 w-full bg-transparent font-mono text-sm text-transparent caret-text outline-none text-ellipsis placeholder:text-faint"
            value={draft}
            onChange={(event) => {
              typing.setDraft(event.target.value);
              typing.follow();
            }}
            onKeyDown={typing.onKeyDown}
            onKeyUp={({ key }) => ["ArrowLeft", "ArrowRight", "Home", "End"].includes(key) && typing.follow()}
            onFocus={typing.follow}
            onClick={typing.follow}
            onScroll={(event) => setScrolled(event.currentTarget.scrollLeft)}
            onBlur={typing.close}
          />
        </div>
        {draft !== value && problem === undefined && (
          <span className="max-md:hidden" title="Enter applies the query">
            <Kbd keys="Enter" />
          </span>
        )}
        {draft !== "" && (
          <IconButton
            icon="close"
            label="Clear the query"
            className="in-disabled:hidden"
            size="sm"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => typing.commit("")}
          />
        )}
      </div>
      {isOpen ? (
        <SuggestionList
          id={listId}
          place={typing.place}
          suggestions={suggestions}
          chosen={chosen}
          onTake={typing.take}
          problem={problem?.message}
        />
      ) : (
        problem !== undefined && (
          <p role="alert" className="mt-1 text-xs text-error">
            {problem.message}
          </p>
        )
      )}
    </div>
  );
}
