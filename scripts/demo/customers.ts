import type { Conversation } from "./conversation.ts";

export type Customer = { customer_identifier: string; customer_name?: string; customer_email?: string };

type Profile = Omit<Customer, "customer_identifier">;

/** Such as `mia_li_3668`. */
const userId = /\b[a-z]+_[a-z]+_\d{4}\b/;

/**
 * The customer of each conversation: the first user id mentioned, otherwise that of another trial of the same task.
 * Callers who never identify themselves share a made-up id per task. Names and addresses come from profile lookups.
 */
export function findCustomers(conversations: readonly Conversation[]): Map<Conversation, Customer> {
  const idOfTask = new Map<number, string>();
  const profiles = new Map<string, Profile>();
  for (const conversation of conversations) {
    const id = mentionedId(conversation);
    if (id !== undefined) idOfTask.set(conversation.task_id, id);
    for (const [owner, profile] of profilesIn(conversation)) profiles.set(owner, profile);
  }
  return new Map(
    conversations.map((conversation) => {
      const id =
        mentionedId(conversation) ?? idOfTask.get(conversation.task_id) ?? `unknown_caller_${conversation.task_id}`;
      return [conversation, { customer_identifier: id, ...profiles.get(id) }];
    }),
  );
}

function mentionedId({ messages }: Conversation): string | undefined {
  for (const { role, content, tool_calls: calls = [] } of messages) {
    if (role === "system") continue; // The policy may contain an example id.
    const texts = [content ?? ""].concat(calls.map((call) => call.function.arguments));
    const found = userId.exec(texts.join("\n"));
    if (found) return found[0];
  }
  return undefined;
}

function* profilesIn({ messages }: Conversation): Generator<[string, Profile]> {
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made);
  for (const message of messages) {
    if (message.role !== "tool" || message.name !== "get_user_details") continue;
    const call = calls.find(({ id }) => id === message.tool_call_id);
    const owner = userId.exec(call?.function.arguments ?? "")?.[0];
    const profile = parseProfile(message.content ?? "");
    if (owner !== undefined && profile) yield [owner, profile];
  }
}

function parseProfile(content: string): Profile | undefined {
  try {
    const { name, email } = JSON.parse(content) as {
      name: { first_name: string; last_name: string };
      email: string;
    };
    return { customer_name: `${name.first_name} ${name.last_name}`, customer_email: email };
  } catch {
    return undefined; // An error message instead of a profile.
  }
}
