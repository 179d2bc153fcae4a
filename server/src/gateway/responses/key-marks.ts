import { isObject, parseObjectText } from "../../lib/json.ts";
import type { SseEvent } from "../../lib/sse.ts";
import type { CompleteReply } from "../call/operation.ts";
import { readJsonReply } from "../providers/openai/read-reply.ts";

type Members = Record<string, unknown>;

/**
 * Only the provider key that created a response, an item or encrypted reasoning can use it again. So if a call may use
 * several keys, the caller gets the ids and texts of these with a key mark appended, as in `resp_1.kAbCdEfGh`. A later
 * call that contains a key mark uses that key, on any node and after a restart. A key mark is a keyed hash: it
 * distinguishes the keys of an organization and does not reveal them.
 */
const marked = /^(.+)\.k([\w-]{8})$/s;

/** Members of an item that get a key mark. */
const ofItems = ["id", "encrypted_content", "container_id", "approval_request_id"] as const;

function mark(value: unknown, keyMark: string): unknown {
  return typeof value === "string" && value !== "" ? `${value}.k${keyMark}` : value;
}

function changed<T extends Members>(members: T, names: readonly string[], change: (value: unknown) => unknown): T {
  const changes: Members = {};
  for (const name of names) if (members[name] !== undefined) changes[name] = change(members[name]);
  return { ...members, ...changes };
}

/** Appends the key mark to the values of a complete response. */
export function markResponse(response: Members, keyMark: string): Members {
  const append = (value: unknown): unknown => mark(value, keyMark);
  const { output, conversation } = response;
  return {
    ...changed(response, ["id", "previous_response_id"], append),
    ...(isObject(conversation) && { conversation: changed(conversation, ["id"], append) }),
    ...(Array.isArray(output) && { output: (output as unknown[]).map((item) => markItem(item, keyMark)) }),
  };
}

function markItem(item: unknown, keyMark: string): unknown {
  return isObject(item) ? changed(item, ofItems, (value) => mark(value, keyMark)) : item;
}

/** Marks a page of a response's items. */
export function markItems(page: Members, keyMark: string): Members {
  const { data } = page;
  return {
    ...changed(page, ["first_id", "last_id"], (value) => mark(value, keyMark)),
    ...(Array.isArray(data) && { data: (data as unknown[]).map((item) => markItem(item, keyMark)) }),
  };
}

/** Splits a value from its key mark; undefined if it has none. */
export function removeMark(value: string): { value: string; keyMark: string | undefined } {
  const found = marked.exec(value);
  return found === null ? { value, keyMark: undefined } : { value: found[1] ?? "", keyMark: found[2] };
}

/** Marks an event of a stream. */
export function markEvent(event: Members, keyMark: string): Members {
  const { response, item } = event;
  return {
    ...changed(event, ["item_id", "response_id"], (value) => mark(value, keyMark)),
    ...(isObject(response) && { response: markResponse(response, keyMark) }),
    ...(item !== undefined && { item: markItem(item, keyMark) }),
  };
}

type KeyMarker = { reply: (reply: CompleteReply) => CompleteReply; event: (event: SseEvent) => Buffer };

/** Marks a complete response or the events of its stream. */
export function createMarker(keyMark: string): KeyMarker {
  return {
    reply: (complete) => ({
      headers: complete.headers,
      bytes: Buffer.from(JSON.stringify(markResponse(readJsonReply(complete).reply, keyMark))),
    }),
    event: ({ name, data, raw }) => {
      const event = data === undefined ? undefined : parseObjectText(data);
      if (event === undefined) return raw;
      const head = name === "" ? "" : `event: ${name}\n`;
      return Buffer.from(`${head}data: ${JSON.stringify(markEvent(event, keyMark))}\n\n`);
    },
  };
}

/** `param`: the parameter with the marked value. */
export type KeyMark = { value: string; param: string };

/**
 * Removes the key marks from a request, and returns the one that decides: that of the previous response, else that of
 * the conversation, else that of the last container of a tool, else that of the last item. Drops reasoning that was
 * encrypted for another key, as this key cannot decrypt it.
 * @returns the same members if there is no key mark
 */
export function removeMarks(members: Members): { members: Members; keyMark: KeyMark | undefined } {
  let keyMark: KeyMark | undefined;
  let isMarked = false;
  const unmark = (value: unknown, param: string): unknown => {
    if (isObject(value)) return { ...value, id: unmark(value["id"], param) };
    const found = typeof value === "string" ? marked.exec(value) : null;
    if (found === null) return value;
    isMarked = true;
    keyMark = { value: found[2] ?? "", param };
    return found[1];
  };
  const { input, tools } = members;
  const items = Array.isArray(input) ? (input as unknown[]) : undefined;
  const unmarkedItems = items?.map((item) =>
    isObject(item) ? changed(item, ofItems, (value) => unmark(value, "input")) : item,
  );
  const unmarkedTools = Array.isArray(tools)
    ? (tools as unknown[]).map((tool) =>
        isObject(tool) && typeof tool["container"] === "string"
          ? changed(tool, ["container"], (value) => unmark(value, "tools"))
          : tool,
      )
    : undefined;
  const heads = ["conversation", "previous_response_id"] as const;
  const complete: Members = { ...members };
  for (const name of heads) if (members[name] !== undefined) complete[name] = unmark(members[name], name);
  if (!isMarked) return { members, keyMark: undefined };
  if (unmarkedTools !== undefined) complete["tools"] = unmarkedTools;
  if (items !== undefined) {
    complete["input"] = unmarkedItems?.filter((_item, i) => !isForeign(items[i], keyMark));
  }
  return { members: complete, keyMark };
}

function isForeign(item: unknown, keyMark: KeyMark | undefined): boolean {
  if (!isObject(item) || item["type"] !== "reasoning" || typeof item["encrypted_content"] !== "string") return false;
  const found = marked.exec(item["encrypted_content"]);
  return found !== null && found[2] !== keyMark?.value;
}
