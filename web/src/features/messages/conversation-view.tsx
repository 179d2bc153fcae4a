import { useState, type ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { Icon } from "../../ui/icon.tsx";
import type { Sections } from "./conversation.ts";
import type { DisplayMessage } from "./display-part.ts";
import { MessageView } from "./message-view.tsx";

const atOnce = 40;
const charsAtOnce = 40_000;
const fewest = 4;

/** The folded history, then the new messages of the turn, then the answers. */
export function ConversationView({ sections, areChoices }: { sections: Sections; areChoices: boolean }): ReactNode {
  const { history, turn, answers, isRepeated } = sections;
  return (
    <div>
      {history.length > 0 && <History messages={history} />}
      {history.length > 0 && turn.length + answers.length > 0 && (
        <Divider label={isRepeated ? "Sent again in this turn" : "New in this turn"} />
      )}
      <Messages messages={turn} />
      {answers.map((message, at) => (
        <MessageView
          key={message.place}
          message={message}
          note={areChoices ? `choice ${at + 1} of ${answers.length}` : undefined}
        />
      ))}
    </div>
  );
}

const Divider = ({ label }: { label: string }): ReactNode => (
  <div className="flex items-center gap-2 border-t border-line bg-accent-soft px-3 py-0.5 text-xs text-accent">
    {label}
  </div>
);

function History({ messages }: { messages: readonly DisplayMessage[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <section>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex h-8 w-full items-center gap-1.5 px-3 text-left text-xs text-muted hover:bg-raised"
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={12} />
        {formatInteger(messages.length)} earlier {messages.length === 1 ? "message" : "messages"}
      </button>
      {isOpen && <Messages messages={messages} />}
    </section>
  );
}

/** How many of the first messages are hidden, so that the others render quickly. */
function hiddenOf(messages: readonly DisplayMessage[], steps: number): number {
  let chars = 0;
  let first = messages.length;
  while (
    first > 0 &&
    messages.length - first < atOnce * steps &&
    (chars < charsAtOnce * steps || messages.length - first < fewest)
  ) {
    first -= 1;
    chars +=
      messages[first]?.parts.reduce(
        (sum, part) => sum + ("text" in part ? Math.min(part.text.length, 6000) : 500),
        0,
      ) ?? 0;
  }
  return first;
}

/** Shows part of a long list: the messages nearest to the content below come first. */
function Messages({ messages }: { messages: readonly DisplayMessage[] }): ReactNode {
  const [steps, setSteps] = useState(1);
  const hidden = hiddenOf(messages, steps);
  return (
    <>
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => setSteps(steps * 2)}
          className="h-8 w-full border-t border-line px-3 text-left text-xs text-accent hover:bg-raised"
        >
          Show more of the {formatInteger(hidden)} before these
        </button>
      )}
      {messages.slice(hidden).map((message) => (
        <MessageView key={message.place} message={message} />
      ))}
    </>
  );
}
