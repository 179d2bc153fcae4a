import { useEffect, useMemo, useState, type ReactNode } from "react";
import { ConversationView } from "../messages/conversation-view.tsx";
import {
  guessNew,
  placesOfNew,
  weightOf,
  readConversation,
  toSections,
  type Conversation,
} from "../messages/conversation.ts";
import { MessageFormContext } from "../messages/message-form.ts";
import { TextBlock } from "../messages/text-block.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import { ContentParts } from "./content-parts.tsx";
import { FormSwitch, useStoredForm } from "./form-switch.tsx";
import { OfferedTools } from "./offered-tools.tsx";
import { useNewMessages, type Added } from "./span-queries.ts";
import { listOf, textOf, type Span } from "./span-record.ts";

/** How long the conversation waits for the list of its new messages. */
const patienceMs = 500;

/** Larger conversations are not fetched twice. */
const largeChars = 300_000;

/** The messages of a span as a conversation; without messages, its input and output. */
export function ConversationTab({ id, span }: { id: string; span: Span }): ReactNode {
  const [form, setForm] = useStoredForm();
  const conversation = useMemo(() => readConversation(span), [span]);
  const hasMessages = conversation.sent.length + conversation.answers.length > 0;
  const tools = listOf(span, "tools");
  return (
    <MessageFormContext value={form}>
      <ErrorOfSpan span={span} />
      <div className="flex h-8 items-center gap-2 border-b border-line px-3">
        <OfferedTools tools={tools} />
        <span className="ml-auto">
          <FormSwitch form={form} onForm={setForm} />
        </span>
      </div>
      {hasMessages && <Messages id={id} span={span} conversation={conversation} />}
      <ContentParts span={span} conversation={conversation} />
    </MessageFormContext>
  );
}

function Messages({ id, span, conversation }: { id: string; span: Span; conversation: Conversation }): ReactNode {
  // Everything is new in a first question, or in a span without thread, session and trace.
  const belongs = ["thread_identifier", "session_identifier", "trace_unique_id"].some(
    (member) => textOf(span, member) !== undefined,
  );
  const isEnabled = belongs && conversation.sent.length > 1;
  const form = weightOf(conversation.sent) > largeChars ? "count" : "messages";
  const added = useNewMessages(id, form, isEnabled);
  const isLate = useDelay(patienceMs);
  const sections = useMemo(() => {
    const messages = [...conversation.sent, ...conversation.answers];
    if (!belongs)
      return toSections(
        conversation,
        messages.map(() => true),
      );
    return toSections(conversation, isNewBy(conversation, added.data));
  }, [conversation, added.data, belongs]);
  // The border between old and new messages should not move while somebody reads.
  if (isEnabled && added.isPending && !isLate)
    return <p className="p-3 text-muted">Looking for what is new in this turn …</p>;
  return (
    <>
      {added.error !== null && (
        <p className="border-b border-line bg-warn-soft px-3 py-1 text-xs text-warn" title={added.error.message}>
          What is new in this turn is a guess: the server could not compare it with earlier turns.
        </p>
      )}
      <ConversationView sections={sections} areChoices={conversation.areChoices} />
    </>
  );
}

/** Whether this much time has passed since the component was mounted. */
function useDelay(ms: number): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isOver;
}

/** Compares the messages; for large conversations it uses their number, as if the old ones came first. */
function isNewBy(conversation: Conversation, added: Added | undefined): boolean[] {
  if (added === undefined) return guessNew(conversation);
  const messages = [...conversation.sent, ...conversation.answers];
  if ("messages" in added) return placesOfNew(messages, added.messages);
  return messages.map((_message, place) => place >= added.resentCount);
}

function ErrorOfSpan({ span }: { span: Span }): ReactNode {
  const message = textOf(span, "error_message");
  if (message === undefined) return null;
  const code = textOf(span, "error_code");
  return (
    <div className="border-b border-line bg-error-soft px-3 py-2 text-error">
      {code !== undefined && <p className="font-mono text-xs">{visibleLine(code)}</p>}
      <MessageFormContext value="text">
        <TextBlock text={message} startChars={1000} />
      </MessageFormContext>
    </div>
  );
}
