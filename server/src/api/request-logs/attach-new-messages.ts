import type { SpanScope } from "../../domain/span.ts";
import type { SpanStore, StoredSpan } from "../../storage/spans/span-store.ts";
import type { ScoredStoredSpan } from "./span-member.ts";
import { requestedMembers } from "./span-members.ts";
import { messagesOfSpan } from "./span-messages.ts";

/** Whether any of the members of a response concerns new messages. */
export const needsNewMessages = (members: readonly string[]): boolean =>
  members.some((name) => Object.hasOwn(requestedMembers, name));

/** Adds to spans what they contribute to their conversations: new messages, and the number of repeated ones. */
export async function attachNewMessages<Span extends StoredSpan>(
  store: Pick<SpanStore, "findNewMessages">,
  scope: SpanScope,
  spans: readonly Span[],
  signal?: AbortSignal,
): Promise<Array<Span & Pick<ScoredStoredSpan, "new_messages" | "resent_message_count">>> {
  const found = await store.findNewMessages(scope, spans, signal);
  return spans.map((span) => {
    const messages = messagesOfSpan(span);
    const known = found.get(span.unique_id);
    // If the engine could not match the messages, all of them count as new.
    const isComplete = known !== undefined && (known.places.length === 0 || known.count === messages.length);
    const added = isComplete ? known.places.map((place) => messages[place]) : messages;
    return {
      ...span,
      new_messages: JSON.stringify(added),
      resent_message_count: String(messages.length - added.length),
    };
  });
}
