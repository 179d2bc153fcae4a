import { useState, type ReactNode } from "react";
import { Icon } from "../../ui/icon.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import type { DisplayPart, Source } from "./display-part.ts";
import { MediaView } from "./media-view.tsx";
import { PlainText } from "./plain-text.tsx";
import { outside, safeHref } from "./safe-link.ts";
import { TextBlock } from "./text-block.tsx";
import { ToolBlock, ToolResultBlock } from "./tool-block.tsx";

const resultChars = 1500;

/** One part of a message. */
export function PartView({ part, startChars }: { part: DisplayPart; startChars?: number | undefined }): ReactNode {
  switch (part.kind) {
    case "text":
      return (
        <div>
          <TextBlock text={part.text} {...(startChars !== undefined && { startChars })} />
          {part.sources !== undefined && <Sources sources={part.sources} />}
        </div>
      );
    case "reasoning":
      return <Reasoning text={part.text} />;
    case "refusal":
      return (
        <div className="border-l-2 border-warn pl-2">
          <p className="text-xs text-warn">Refusal</p>
          <TextBlock text={part.text} />
        </div>
      );
    case "code":
      return (
        <pre className="max-h-80 overflow-auto rounded-md border border-line bg-raised p-2 text-sm">
          <PlainText text={part.text.slice(0, 100_000)} isMono />
        </pre>
      );
    case "media":
      return (
        <figure className="flex flex-col items-start gap-1">
          <MediaView media={part.media} />
          {part.caption !== undefined && (
            <figcaption className="text-muted">
              <PlainText text={part.caption} />
            </figcaption>
          )}
        </figure>
      );
    case "file":
      return part.media === undefined ? (
        <FileName name={part.name} />
      ) : (
        <FileView name={part.name} media={part.media} />
      );
    case "tool-call":
      return <ToolBlock call={part} renderPart={resultPart} />;
    case "tool-result":
      return <ToolResultBlock result={part} renderPart={resultPart} />;
    case "value":
    default:
      return (
        <div>
          {part.label !== "value" && part.label !== "result" && (
            <p className="text-xs text-muted">{visibleLine(part.label)}</p>
          )}
          <JsonTree value={part.value} maxHeight={360} />
        </div>
      );
  }
}

const resultPart = (part: DisplayPart, at: number): ReactNode => (
  <PartView key={at} part={part} startChars={resultChars} />
);

function FileView({
  name,
  media,
}: {
  name: string;
  media: Extract<DisplayPart, { kind: "media" }>["media"];
}): ReactNode {
  return (
    <div className="flex flex-col items-start gap-1">
      <FileName name={name} />
      <MediaView media={media} name={name} />
    </div>
  );
}

const FileName = ({ name }: { name: string }): ReactNode => (
  <span className="inline-flex items-center gap-1.5 text-muted">
    <Icon name="note" size={14} />
    <bdi className="font-mono text-sm">{visibleLine(name)}</bdi>
  </span>
);

function Reasoning({ text }: { text: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (text === "")
    return (
      <p className="text-xs text-muted italic">The model reasoned; the provider does not disclose its thoughts.</p>
    );
  return (
    <div className="border-l-2 border-line-strong pl-2 text-muted">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full min-w-0 items-center gap-1 text-left text-xs hover:text-text"
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
        <span className="shrink-0">Reasoning</span>
        {!isOpen && <span className="truncate text-faint">{visibleLine(text.slice(0, 200))}</span>}
      </button>
      {isOpen && <TextBlock text={text} />}
    </div>
  );
}

function Sources({ sources }: { sources: readonly Source[] }): ReactNode {
  return (
    <ul className="mt-1 flex flex-wrap gap-1 text-xs">
      {sources.slice(0, 50).map(({ title, url }) => {
        const href = safeHref(url);
        const label = visibleLine(title).slice(0, 120);
        return (
          <li key={url} className="max-w-full truncate rounded-sm border border-line px-1.5 text-muted">
            {href === undefined ? (
              label
            ) : (
              <a href={href} title={href} {...outside} className="hover:text-accent">
                {label}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}
