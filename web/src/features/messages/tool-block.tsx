import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon } from "../../ui/icon.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import type { DisplayPart, ToolCallPart, ToolResultPart } from "./display-part.ts";
import { MessageFormContext } from "./message-form.ts";
import { PlainText } from "./plain-text.tsx";

/** Passed in to avoid an import cycle, since parts contain results and results contain parts. */
type RenderPart = (part: DisplayPart, at: number) => ReactNode;

/** A tool call: its name, its arguments and its result. */
export function ToolBlock({ call, renderPart }: { call: ToolCallPart; renderPart: RenderPart }): ReactNode {
  const { result, isAnsweredLater = false } = call;
  return (
    <Frame name={call.name} id={call.id} isError={result?.isError === true}>
      <Arguments given={call.arguments} />
      {result !== undefined && <Result result={result} renderPart={renderPart} />}
      {isAnsweredLater && (
        <p className="border-t border-line px-2 py-1 text-xs text-muted">The result is in the new turn.</p>
      )}
    </Frame>
  );
}

/** A result whose call is shown elsewhere or is missing. */
export function ToolResultBlock({ result, renderPart }: { result: ToolResultPart; renderPart: RenderPart }): ReactNode {
  const name = result.call?.name ?? result.name ?? "Result of a tool";
  return (
    <Frame name={name} id={result.id} isError={result.isError}>
      {result.call !== undefined && <Arguments given={result.call.arguments} />}
      <Result result={result} renderPart={renderPart} />
    </Frame>
  );
}

type FrameProps = { name: string; id: string | undefined; isError: boolean; children: ReactNode };

function Frame({ name, id, isError, children }: FrameProps): ReactNode {
  const [isOpen, setOpen] = useState(true);
  return (
    <section className={`overflow-hidden rounded-md border ${isError ? "border-error" : "border-line"}`}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex h-7 w-full min-w-0 items-center gap-1.5 bg-raised px-2 text-left"
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
        <Icon name="tool" size={14} className="text-kind-tool" />
        <bdi className="truncate font-mono text-sm">{visibleLine(name) || "tool"}</bdi>
        {isError && <span className="text-xs text-error">error</span>}
        {id !== undefined && (
          <bdi className="ml-auto max-w-40 truncate font-mono text-2xs text-faint">{visibleLine(id)}</bdi>
        )}
      </button>
      {isOpen && children}
    </section>
  );
}

function Arguments({ given }: { given: unknown }): ReactNode {
  const isNothing = typeof given === "object" && given !== null && Object.keys(given).length === 0;
  return (
    <div className="border-t border-line px-2 py-1">
      {typeof given === "string" ? (
        <PlainText text={given.slice(0, 20_000)} isMono />
      ) : isNothing ? (
        <span className="text-xs text-muted">without arguments</span>
      ) : (
        <JsonTree value={given} maxHeight={260} />
      )}
    </div>
  );
}

/** Tool output is rarely Markdown. */
function Result({ result, renderPart }: { result: ToolResultPart; renderPart: RenderPart }): ReactNode {
  return (
    <div className="border-t border-line">
      <p className={`px-2 pt-1 text-2xs ${result.isError ? "text-error" : "text-muted"}`}>
        {result.isError ? "Error" : "Result"}
      </p>
      <div className="flex flex-col gap-1 px-2 pb-1">
        {result.parts.length === 0 && <span className="text-xs text-muted">nothing</span>}
        <MessageFormContext value="text">{result.parts.map(renderPart)}</MessageFormContext>
      </div>
    </div>
  );
}
