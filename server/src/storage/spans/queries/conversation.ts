import { messageLogTypes } from "../../../domain/span.ts";

/**
 * SQL for what a span adds to its conversation. A turn of a conversation sends all turns before it again, and its
 * response comes again with the next turn. So the messages of a span are those that were sent and those of the
 * response, and a message is new if no earlier span of the conversation has it
 * (docs/adr/0024-new-messages-of-a-turn-are-computed-when-reading.md).
 */

/** The columns that name a conversation, the narrowest first. A span without any of these is its own conversation. */
export const conversationColumns = ["thread_identifier", "session_identifier", "trace_unique_id"] as const;
export const isOfConversation = `(${conversationColumns.map((column) => `${column} != ''`).join(" OR ")})`;

/** A hash that identifies the conversation of a span. */
export const conversation = `cityHash64(environment, multiIf(${[
  ...conversationColumns.map((column) => `${column} != '', concat('${column} ', ${column})`),
  "toString(unique_id)",
].join(", ")}))`;

/**
 * The sort key of a span within its conversation; `idOf` reads the span's id from it. Sorted by end: a wrapper ends
 * with or after the inner call that sent its messages, and the next turn begins after the response. Of spans with the
 * same times, those with fewer messages come first.
 */
export const place = (messageCount: string) =>
  `(timestamp, -toUnixTimestamp64Nano(start_time), ${messageCount}, unique_id)`;
export const placeColumns = ["timestamp", "start_time", "unique_id"] as const;
export const idOf = (placed: string) => `${placed}.4`;

/** The columns that messages are read from. */
export const messageColumns = [
  "log_type",
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
] as const;

const isMessageLog = `log_type IN (${messageLogTypes.map((type) => `'${type}'`).join(", ")})`;

/** Whether the text of a column stands for messages, as it may in message logs. */
function isPresent(column: string): string {
  return `${isMessageLog} AND ${column} != ''`;
}

/** Text that is JSON of messages is read as these; any other text is one message of `role`. */
function messagesOf(column: string, role: string): string {
  const list = `if(match(${column}, '^[ \\t\\r\\n]*\\\\{'), concat('[', ${column}, ']'), ${column})`;
  const elements = `JSONExtractArrayRaw(${list})`;
  const isList = `notEmpty(${elements}) AND arrayAll(message -> JSONHas(message, 'role'), ${elements})`;
  return `if(match(${column}, '^[ \\t\\r\\n]*[\\\\[{]') AND ${isList}, ${list}, concat('[{"role":"${role}","content":', toJSONString(${column}), '}]'))`;
}

function firstOf(list: string): string {
  return `concat('[', JSONExtractArrayRaw(${list})[1], ']')`;
}

/** The members of the same names in responses, as JSON text; '' if absent. */
export const promptMessages = `multiIf(prompt_messages != '', prompt_messages, ${isPresent("input")}, ${messagesOf("input", "user")}, '')`;
export const completionMessage = `multiIf(completion_message != '', completion_message,
  NOT (${isMessageLog}), '',
  notEmpty(JSONExtractArrayRaw(completion_messages)), JSONExtractArrayRaw(completion_messages)[1],
  output != '', JSONExtractArrayRaw(${messagesOf("output", "assistant")})[1], '')`;

/**
 * Selects the messages of a span, as api/request-logs/span-messages.ts reads them: `sent` and `answered` are JSON
 * lists, `messages` has the members of every message, texts unchanged and everything else as JSON.
 */
export const messages = `
  multiIf(prompt_messages != '', prompt_messages, ${isPresent("input")}, ${messagesOf("input", "user")}, '[]') AS sent,
  multiIf(completion_messages NOT IN ('', '[]'), completion_messages, completion_message != '', concat('[', completion_message, ']'),
    ${isPresent("output")}, ${firstOf(messagesOf("output", "assistant"))}, '[]') AS answered,
  ${membersIn("sent")}, ${membersIn("answered")}, arrayConcat(${messagesIn("sent")}, ${messagesIn("answered")}) AS messages`;

function membersIn(list: string): string {
  return `JSONExtract(${list}, 'Array(Map(String, String))') AS ${list}_members`;
}

/**
 * A message that is not an object has its JSON as its only member. So has a list that the engine cannot read, such as
 * one with integers beyond 64 bits: it is one message. Splitting a list into JSON texts takes several times as long as
 * reading it, so only these lists are split.
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
 * The identities of messages, as hashes of role, name, content, tool calls and the id of the call that is answered.
 * Content in parts is reduced to its texts, so neither that form nor a cache mark for a provider changes the identity.
 * The identity of a message without content and calls covers all its members.
 */
export function identities(list: string): string {
  const isBlank = `message['content'] = '' AND position(message['tool_calls'], '"id"') = 0`;
  const parts = "JSONExtractArrayRaw(message['content'])";
  const part = "if(JSONHas(part, 'text'), JSONExtractString(part, 'text'), part)";
  const content = `if(startsWith(message['content'], '[') AND notEmpty(${parts}), arrayStringConcat(arrayMap(part -> ${part}, ${parts})), message['content'])`;
  const call = "Tuple(id String, function Tuple(name String, arguments String))";
  const calls = `if(message['tool_calls'] IN ('', '[]'), [], JSONExtract(message['tool_calls'], 'Array(${call})'))`;
  // A response may lack its role.
  const role = "if(message['role'] = '', 'assistant', message['role'])";
  return `arrayMap(message -> if(${isBlank}, cityHash64(mapKeys(message), mapValues(message)),
    cityHash64(${role}, ${content}, ${calls}, message['tool_call_id'], message['name'])), ${list})`;
}
