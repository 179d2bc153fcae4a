import { memo, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { DisplayMessage, Tone } from "./display-part.ts";
import { messageText } from "./message-text.ts";
import { PartView } from "./part-view.tsx";

const dots: Record<Tone, string> = {
  system: "bg-line-strong",
  user: "bg-info",
  assistant: "bg-accent",
  tool: "bg-kind-tool",
  other: "bg-kind-agent",
};

const systemChars = 600;

/** One message: its role and all of its parts. */
export const MessageView = memo(function MessageView({
  message,
  note,
}: {
  message: DisplayMessage;
  note?: string | undefined;
}): ReactNode {
  const { role, tone, name, parts } = message;
  return (
    <article className="group border-t border-line px-3 py-2 first:border-t-0">
      <header className="mb-1 flex h-5 items-center gap-1.5 text-xs">
        <span className={`size-2 shrink-0 rounded-[2px] ${dots[tone]}`} aria-hidden />
        <span className="font-semibold">{visibleLine(role).slice(0, 60)}</span>
        {name !== undefined && <bdi className="truncate text-muted">{visibleLine(name)}</bdi>}
        {note !== undefined && <span className="text-faint">{note}</span>}
        <span className="ml-auto opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
          <CopyButton label="Copy message" text={() => messageText(message)} />
        </span>
      </header>
      <div className="flex flex-col gap-2">
        {parts.length === 0 && <p className="text-muted italic">no content</p>}
        {parts.map((part, at) => (
          <PartView key={at} part={part} startChars={tone === "system" ? systemChars : undefined} />
        ))}
      </div>
    </article>
  );
});
