import { createHash } from "node:crypto";
import { isObject, parseJsonText } from "../../../lib/json.ts";
import { type Dialect, messageMembers, serviceMembers } from "../dialect.ts";
import { completeJson } from "../shared/complete-json.ts";
import { asOpenaiPart } from "../shared/native-parts.ts";
import { refuse } from "../shared/refuse.ts";
import { withToolCalls } from "../shared/tool-calls-of-functions.ts";

type Message = Record<string, unknown>;

type Adapted = { messages: unknown; adjusted: Set<string> };

/**
 * Adapts the messages of a chat to a provider. Returns the same list if nothing has to change.
 * @param instruction an additional instruction for the model
 * @throws ServiceError naming a content part that the provider does not support: no content is dropped
 */
export function adaptMessages(
  messages: unknown,
  dialect: Dialect,
  { provider, instruction }: { provider: string; instruction: string | undefined },
): Adapted {
  const adjusted = new Set<string>();
  if (!Array.isArray(messages)) return { messages, adjusted };
  const given: readonly unknown[] = dialect.parsesCalls ? withToolCalls(messages) : messages;
  let isChanged = given !== messages;
  const adapter = { dialect, provider, adjusted };
  let list = given.map((message, index) => {
    const adapted = isObject(message) ? adaptMessage(message, index, adapter) : message;
    if (adapted !== message) isChanged = true;
    return adapted;
  });
  for (const rearrange of rearrangements(dialect)) {
    const next = rearrange(list, adjusted);
    if (next !== list) isChanged = true;
    list = next;
  }
  if (instruction !== undefined) {
    isChanged = true;
    list = [{ role: "system", content: instruction }, ...list];
    if (dialect.alternates) list = systemFirst(list, adjusted);
  }
  return { messages: isChanged ? list : messages, adjusted };
}

type Rearrange = (list: unknown[], adjusted: Set<string>) => unknown[];

function rearrangements({ alternates, isMistral }: Dialect): Rearrange[] {
  return [...(alternates ? [systemFirst, mergeNeighbours] : []), ...(isMistral ? [forMistral] : [])];
}

type Adapter = { dialect: Dialect; provider: string; adjusted: Set<string> };

function adaptMessage(message: Message, index: number, adapter: Adapter): Message {
  const { dialect, adjusted } = adapter;
  const changes: Message = {};
  for (const name in message) {
    if (message[name] === undefined || (isTaken(name, dialect) && !isUnset(name, message[name]))) continue;
    changes[name] = undefined;
    if (saysSomething(message[name])) adjusted.add(name === "cache_control" ? name : `messages.${name}`);
  }
  if (message["role"] === "developer" && !dialect.takesDeveloper) {
    changes["role"] = "system";
    adjusted.add("messages.role");
  }
  const content = adaptContent(message, index, adapter);
  if (content !== message["content"]) changes["content"] = content;
  const calls = adaptCalls(message["tool_calls"], adapter);
  if (calls !== message["tool_calls"]) changes["tool_calls"] = calls;
  if (typeof message["tool_call_id"] === "string") {
    const id = idFor(message["tool_call_id"], dialect);
    if (id !== message["tool_call_id"]) changes["tool_call_id"] = id;
  }
  if (
    dialect.needsReasoning &&
    Array.isArray(calls) &&
    calls.length > 0 &&
    typeof message["reasoning_content"] !== "string"
  ) {
    // Another model made these calls: a space states that it did so without thinking.
    changes["reasoning_content"] = " ";
  }
  for (const _change in changes) {
    return Object.fromEntries(Object.entries({ ...message, ...changes }).filter(([, value]) => value !== undefined));
  }
  return message;
}

function isTaken(name: string, dialect: Dialect): boolean {
  if (messageMembers.has(name)) return !dialect.messagesLack.includes(name);
  if (name === "cache_control") return dialect.takesCacheMarkers;
  return dialect.history.includes(name) || (!dialect.isStrict && !serviceMembers.has(name));
}

/** Members that providers accept only with a value. */
const neverNull = new Set(["tool_calls", "function_call", "tool_call_id", "name"]);

function isUnset(name: string, value: unknown): boolean {
  return neverNull.has(name) && (value === null || (Array.isArray(value) && value.length === 0));
}

/** Clients send a response back with its empty members. */
function saysSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

function adaptContent(message: Message, index: number, adapter: Adapter): unknown {
  const { dialect } = adapter;
  const { content } = message;
  // A refusal becomes the content for providers that have no `refusal` member.
  if (!saysSomething(content) && typeof message["refusal"] === "string" && dialect.messagesLack.includes("refusal")) {
    return message["refusal"];
  }
  if (!Array.isArray(content)) return content;
  const list = content as unknown[];
  const isTaken = list.every((part) => isTakenPart(part, dialect));
  const parts = isTaken ? list : list.map((part, at) => adaptPart(part, [index, at], adapter));
  const isPlain = dialect.parts.size === 1 && parts.every((part) => isObject(part) && part["type"] === "text");
  // Providers that accept only text often do not accept a list.
  if (isPlain) return parts.map((part) => (isObject(part) ? part["text"] : part)).join("\n");
  return parts;
}

function isTakenPart(part: unknown, dialect: Dialect): boolean {
  if (!isObject(part) || "extra_content" in part) return !isObject(part);
  const { type } = part;
  return (
    (typeof type !== "string" || dialect.parts.has(type)) && (dialect.takesCacheMarkers || !("cache_control" in part))
  );
}

function adaptPart(
  part: unknown,
  [message, at]: readonly [message: number, part: number],
  { dialect, provider, adjusted }: Adapter,
): unknown {
  if (!isObject(part)) return part;
  let adapted = part;
  if (typeof part["type"] === "string" && !dialect.parts.has(part["type"])) {
    const known = part["type"] === "refusal" ? { type: "text", text: part["refusal"] } : asOpenaiPart(part);
    if (known === undefined || !dialect.parts.has(known["type"] as string)) {
      const taken = [...dialect.parts].filter((kind) => kind !== "refusal").join(", ");
      refuse(
        `messages.${message}.content.${at}.type`,
        `${JSON.stringify(part["type"])} is not a part that ${provider} supports: send ${taken}`,
      );
    }
    adapted = known;
  }
  const { cache_control: marker, extra_content: extra, ...rest } = adapted;
  if (saysSomething(extra)) adjusted.add("messages.content.extra_content");
  if (dialect.takesCacheMarkers && marker !== undefined) return { ...rest, cache_control: marker };
  if (saysSomething(marker)) adjusted.add("cache_control");
  return rest;
}

/** Members of a call in OpenAI's format; clients that assemble a stream leave the index in. */
const callMembers = new Set(["id", "type", "function", "index", "custom"]);

function adaptCalls(calls: unknown, { dialect, adjusted }: Adapter): unknown {
  if (!Array.isArray(calls)) return calls;
  let isChanged = false;
  const adapted = (calls as unknown[]).map((call) => {
    if (!isObject(call)) return call;
    const isPlain = Object.keys(call).every((name) => callMembers.has(name) && (name !== "index" || !dialect.isStrict));
    const id = typeof call["id"] === "string" ? idFor(call["id"], dialect) : call["id"];
    const isForeign = id !== call["id"];
    if (isPlain && !dialect.parsesCalls && !isForeign) return call;
    const allowed = Object.entries(call).filter(([name, value]) => {
      if (name === "index" && dialect.isStrict) return false;
      if (callMembers.has(name) || (name === "cache_control" && dialect.takesCacheMarkers)) return true;
      if (saysSomething(value)) adjusted.add(name === "cache_control" ? name : `messages.tool_calls.${name}`);
      return false;
    });
    const called = dialect.parsesCalls ? wholeArguments(call["function"], adjusted) : call["function"];
    if (allowed.length === Object.keys(call).length && !isForeign && called === call["function"]) return call;
    isChanged = true;
    return { ...Object.fromEntries(allowed), ...(isForeign && { id }), function: called };
  });
  return isChanged ? adapted : calls;
}

/**
 * Completes arguments that were truncated by a token bound: a provider that parses them would refuse the whole
 * conversation.
 */
function wholeArguments(called: unknown, adjusted: Set<string>): unknown {
  const text = isObject(called) ? called["arguments"] : undefined;
  if (!isObject(called) || typeof text !== "string") return called;
  if (text.trim() === "") return { ...called, arguments: "{}" };
  if (parseJsonText(text).ok) return called;
  adjusted.add("messages.tool_calls.function.arguments");
  return { ...called, arguments: JSON.stringify(completeJson(text)) };
}

/** An id that the provider accepts; equal ids stay equal. */
function idFor(id: string, { isMistral, maxIdChars }: Dialect): string {
  const isTaken = isMistral ? /^[A-Za-z0-9]{9}$/.test(id) : id.length <= maxIdChars;
  if (isTaken) return id;
  const digest = createHash("sha256").update(id).digest("hex");
  return isMistral ? digest.slice(0, 9) : `call_${digest.slice(0, 24)}`;
}

const roleOf = (message: unknown): unknown => (isObject(message) ? message["role"] : undefined);

/** Moves system messages in the middle of a conversation to its beginning. */
function systemFirst(list: unknown[], adjusted: Set<string>): unknown[] {
  const end = list.findIndex((message) => roleOf(message) !== "system");
  const isLater = end !== -1 && list.slice(end).some((message) => roleOf(message) === "system");
  if (!isLater) return list;
  adjusted.add("messages.system");
  return list.toSorted((a, b) => Number(roleOf(b) === "system") - Number(roleOf(a) === "system"));
}

function mergeNeighbours(list: unknown[]): unknown[] {
  const merged: unknown[] = [];
  for (const message of list) {
    const last = merged.at(-1);
    const isSame = roleOf(message) === roleOf(last) && (roleOf(message) === "user" || roleOf(message) === "assistant");
    if (isSame && isObject(last) && isObject(message)) {
      merged[merged.length - 1] = { ...last, content: joined(last["content"], message["content"]) };
    } else merged.push(message);
  }
  return merged.length === list.length ? list : merged;
}

function joined(first: unknown, second: unknown): unknown {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...partsOf(first), ...partsOf(second)];
}

function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content as unknown[];
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

/** The assistant message that is inserted between a tool message and a user message. */
const acknowledgement = "Done.";

function forMistral(list: unknown[]): unknown[] {
  const spaced = list.flatMap((message, index) => {
    const isAfterTool = roleOf(message) === "user" && roleOf(list[index - 1]) === "tool";
    return isAfterTool ? [{ role: "assistant", content: acknowledgement }, message] : [message];
  });
  const last = spaced.at(-1);
  const isPrefix = isObject(last) && last["role"] === "assistant" && last["tool_calls"] === undefined;
  if (isPrefix && last["prefix"] !== true) spaced[spaced.length - 1] = { ...last, prefix: true };
  else if (spaced.length === list.length) return list;
  return spaced;
}
