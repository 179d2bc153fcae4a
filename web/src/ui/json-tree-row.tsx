import { memo, type ReactNode } from "react";
import { visibleText } from "../lib/visible-text.ts";
import { isExactNumber } from "../lib/exact-json.ts";
import { Icon } from "./icon.tsx";
import { literalText } from "./json-literal.ts";
import { sizeOf, type JsonRow, type RowContent } from "./json-tree-rows.ts";

type Props = {
  id: string;
  row: JsonRow;
  top: number;
  isCurrent: boolean;
  opens: boolean;
  onToggle: () => void;
  onCopy: (what: "value" | "path") => void;
};

export const JsonTreeRow = memo(function JsonTreeRow({
  id,
  row,
  top,
  isCurrent,
  opens,
  onToggle,
  onCopy,
}: Props): ReactNode {
  const { depth, label, content, isOpen } = row;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isCurrent}
      {...(opens && { "aria-expanded": isOpen })}
      onClick={opens ? onToggle : undefined}
      className={`group/row absolute left-0 flex h-5 min-w-full items-center whitespace-pre hover:bg-raised ${opens ? "cursor-pointer" : ""} ${isCurrent ? "[[role=tree]:focus-visible_&]:bg-accent-soft" : ""}`}
      style={{ top, paddingLeft: Math.min(depth, 24) * 14 }}
    >
      <span className="flex w-4 shrink-0 justify-center text-faint">
        {opens && <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />}
      </span>
      {label !== undefined && (
        <span className={typeof label === "number" ? "text-faint" : "text-muted"}>
          {typeof label === "number" ? label : literalText(label, 80, false)}
          <span className="text-faint">: </span>
        </span>
      )}
      <RowValue content={content} isOpen={isOpen} />
      <span className="sticky right-0 ml-auto hidden items-center gap-1 bg-raised pr-1 pl-2 group-hover/row:flex">
        <RowButton title="Copy value" onClick={() => onCopy("value")}>
          <Icon name="copy" size={12} />
        </RowButton>
        <RowButton title="Copy path" onClick={() => onCopy("path")}>
          <Icon name="link" size={12} />
        </RowButton>
      </span>
    </div>
  );
});

type ButtonProps = { title: string; onClick: () => void; children: ReactNode };

/** Not in the tab order: the keys c and p do the same. */
function RowButton({ title, onClick, children }: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      tabIndex={-1}
      title={title}
      aria-label={title}
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
      className="flex size-4 items-center justify-center rounded-sm text-muted hover:text-accent"
    >
      {children}
    </button>
  );
}

const textChars = 240;

function RowValue({ content, isOpen }: { content: RowContent; isOpen: boolean }): ReactNode {
  if (content.kind === "range") return <span className="text-muted">{`${content.from} … ${content.to - 1}`}</span>;
  if (content.kind === "line") return <bdi className="text-ok">{visibleText(content.text)}</bdi>;
  if (content.kind === "more") {
    return (
      <span className="text-accent">
        Show more ({(content.text.length - content.from).toLocaleString("en-US")} characters)
      </span>
    );
  }
  const { value } = content;
  if (typeof value === "string") {
    if (isOpen) return <span className="text-muted">{`${value.length.toLocaleString("en-US")} characters`}</span>;
    return <bdi className="text-ok">{literalText(value, textChars, true)}</bdi>;
  }
  if (isExactNumber(value)) return <span className="text-info">{value.rawJSON}</span>;
  if (typeof value === "number") return <span className="text-info">{String(value)}</span>;
  if (typeof value !== "object" || value === null) return <span className="text-kind-agent">{String(value)}</span>;
  return <Summary value={value} isOpen={isOpen} />;
}

function Summary({ value, isOpen }: { value: object; isOpen: boolean }): ReactNode {
  const size = sizeOf(value);
  const count = size.toLocaleString("en-US");
  if (Array.isArray(value)) {
    return <span className="text-faint">{size === 0 ? "[]" : isOpen ? `[ ${count} ]` : `[ ${count} … ]`}</span>;
  }
  if (size === 0) return <span className="text-faint">{"{}"}</span>;
  const keys = isOpen ? "" : ` ${firstKeys(value).join(", ")}${size > 4 ? ", …" : ""} `;
  return <span className="text-faint">{isOpen ? `{ ${count} }` : `{${keys}}`}</span>;
}

function firstKeys(value: object): string[] {
  const keys: string[] = [];
  for (const key in value) {
    keys.push(literalText(key, 24, false));
    if (keys.length === 4) break;
  }
  return keys;
}
