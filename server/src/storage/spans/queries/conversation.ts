import { messageLogTypes } from "../../../domain/span.ts";

/**
 * What a span adds to its conversation, as expressions over the span table. A turn of a conversation sends all turns before
 * it again, and its answer comes again with the next; so the messages of a span are those sent and those answered, and one is
 * new where no earlier span of the conversation holds it (docs/adr/0024-what-a-turn-adds-is-told-when-reading.md).
 */

/** What a conversation is named by, the narrowest first. A span that has none of these is a conversation of its own. */
export const conversationColumns = ["thread_identifier", "session_identifier", "trace_unique_id"] as const;
export const isOfConversation = `(${conversationColumns.map((column) => `${column} != ''`).join(" OR ")})`;

/** A number that the spans of one conversation share. */
export const conversation = `cityHash64(environment, multiIf(${[
  ...conversationColumns.map((column) => `${column} != '', concat('${column} ', ${column})`),
  "toString(unique_id)",
].join(", ")}))`;

/**
 * Where a span of so many messages stands in its conversation, to be ordered by; `idOf` takes its id out again. By its end: a
 * wrapper ends with or after the call within it that sent its messages, and the next turn begins behind the answer. Of spans
 * that all say one time, the shorter come first.
 */
export const place = (messageCount: string) =>
  `(timestamp, -toUnixTimestamp64Nano(start_time), ${messageCount}, unique_id)`;
export const placeColumns = ["timestamp", "start_time", "unique_id"] as const;
export const idOf = (placed: string) => `${placed}.4`;

/** What messages are read from. */
export const messageColumns = [
  "log_type",
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
] as const;

const isMessageLog = `log_type IN (${messageLogTypes.map((type) => `'${type}'`).join(", ")})`;

/** In message logs text may stand for messages. */
function isSaid(column: string): string {
  return `${isMessageLog} AND ${column} != ''`;
}

/** A text that is JSON of messages is those; any other is what `role` said. */
function saidIn(column: string, role: string): string {
  const list = `if(match(${column}, '^[ \\t\\r\\n]*\\\\{'), concat('[', ${column}, ']'), ${column})`;
  const elements = `JSONExtractArrayRaw(${list})`;
  const isList = `notEmpty(${elements}) AND arrayAll(message -> JSONHas(message, 'role'), ${elements})`;
  return `if(match(${column}, '^[ \\t\\r\\n]*[\\\\[{]') AND ${isList}, ${list}, concat('[{"role":"${role}","content":', toJSONString(${column}), '}]'))`;
}

function firstOf(list: string): string {
  return `concat('[', JSONExtractArrayRaw(${list})[1], ']')`;
}

/** What the members of the same names are in answers, as JSON text; '' where there is none. */
export const promptMessages = `multiIf(prompt_messages != '', prompt_messages, ${isSaid("input")}, ${saidIn("input", "user")}, '')`;
export const completionMessage = `multiIf(completion_message != '', completion_message,
  NOT (${isMessageLog}), '',
  notEmpty(JSONExtractArrayRaw(completion_messages)), JSONExtractArrayRaw(completion_messages)[1],
  output != '', JSONExtractArrayRaw(${saidIn("output", "assistant")})[1], '')`;

/**
 * Selects the messages of a span, as api/request-logs/span-messages.ts reads them: `sent` and `answered` are JSON lists, `messages` has
 * the members of every message, texts as they were said and all else as JSON.
 */
export const messages = `
  multiIf(prompt_messages != '', prompt_messages, ${isSaid("input")}, ${saidIn("input", "user")}, '[]') AS sent,
  multiIf(completion_messages NOT IN ('', '[]'), completion_messages, completion_message != '', concat('[', completion_message, ']'),
    ${isSaid("output")}, ${firstOf(saidIn("output", "assistant"))}, '[]') AS answered,
  ${membersIn("sent")}, ${membersIn("answered")}, arrayConcat(${messagesIn("sent")}, ${messagesIn("answered")}) AS messages`;

function membersIn(list: string): string {
  return `JSONExtract(${list}, 'Array(Map(String, String))') AS ${list}_members`;
}

/**
 * What is no object has its JSON for its only member. So has, as one message, a list that the engine cannot read, such as one with
 * integers beyond 64 bits. Taking a list apart into JSON takes several times as long as reading it, so that only these are.
 */
function messagesIn(list: string): string {
  const [members, texts] = [`${list}_members`, `JSONExtractArrayRaw(${list})`];
  return `multiIf(${list} = '[]', [],
    empty(${members}), if(empty(${texts}), [map('', ${list})], arrayMap(text -> map('', text), ${texts})),
    arrayExists(message -> empty(mapKeys(message)), ${members}),
      arrayMap((message, text) -> if(empty(mapKeys(message)), map('', text), message), ${members}, arrayResize(${texts}, length(${members}))),
    ${members})`;
}

/**
 * What tells messages apart, as numbers: who says what, the calls it makes and the call it answers. Of a content in parts its
 * texts, so that neither that form nor a mark for a provider's cache makes another message of it. A message without content or
 * calls is told apart by all that it holds.
 */
export function identities(list: string): string {
  const isBlank = `message['content'] = '' AND position(message['tool_calls'], '"id"') = 0`;
  const parts = "JSONExtractArrayRaw(message['content'])";
  const part = "if(JSONHas(part, 'text'), JSONExtractString(part, 'text'), part)";
  const content = `if(startsWith(message['content'], '[') AND notEmpty(${parts}), arrayStringConcat(arrayMap(part -> ${part}, ${parts})), message['content'])`;
  const call = "Tuple(id String, function Tuple(name String, arguments String))";
  const calls = `if(message['tool_calls'] IN ('', '[]'), [], JSONExtract(message['tool_calls'], 'Array(${call})'))`;
  // An answer may go without its role.
  const role = "if(message['role'] = '', 'assistant', message['role'])";
  return `arrayMap(message -> if(${isBlank}, cityHash64(mapKeys(message), mapValues(message)),
    cityHash64(${role}, ${content}, ${calls}, message['tool_call_id'], message['name'])), ${list})`;
}
