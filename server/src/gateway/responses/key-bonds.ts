import { isObject, parseObjectText } from "../../lib/json.ts";
import type { SseEvent } from "../../lib/sse.ts";
import type { WholeReply } from "../call/operation.ts";
import { readJsonReply } from "../request/read-json-request.ts";

type Members = Record<string, unknown>;

/**
 * Responses, their items and encrypted reasoning belong to the provider key that created them. If a call may use
 * several keys, the caller gets such values with a mark of the key appended, so that a later call finds the key: on any
 * node, and after a restart. The mark is a keyed hash: it distinguishes the keys of one organization and reveals
 * nothing of them.
 */
const marked = /^(.+)\.k([\w-]{8})$/s;

/** Members of an item with such values. */
const ofItems = ["id", "encrypted_content", "container_id", "approval_request_id"] as const;

function mark(value: unknown, bond: string): unknown {
  return typeof value === "string" && value !== "" ? `${value}.k${bond}` : value;
}

function changed<T extends Members>(members: T, names: readonly string[], change: (value: unknown) => unknown): T {
  const changes: Members = {};
  for (const name of names) if (members[name] !== undefined) changes[name] = change(members[name]);
  return { ...members, ...changes };
}

/** Marks a whole response. */
export function bindResponse(response: Members, bond: string): Members {
  const bind = (value: unknown): unknown => mark(value, bond);
  const { output, conversation } = response;
  return {
    ...changed(response, ["id", "previous_response_id"], bind),
    ...(isObject(conversation) && { conversation: changed(conversation, ["id"], bind) }),
    ...(Array.isArray(output) && { output: (output as unknown[]).map((item) => bindItem(item, bond)) }),
  };
}

function bindItem(item: unknown, bond: string): unknown {
  return isObject(item) ? changed(item, ofItems, (value) => mark(value, bond)) : item;
}

/** Marks a page of a response's items. */
export function bindItems(page: Members, bond: string): Members {
  const { data } = page;
  return {
    ...changed(page, ["first_id", "last_id"], (value) => mark(value, bond)),
    ...(Array.isArray(data) && { data: (data as unknown[]).map((item) => bindItem(item, bond)) }),
  };
}

/** Removes the mark from a value, and returns the key that it names. */
export function takeBond(value: string): { value: string; bond: string | undefined } {
  const found = marked.exec(value);
  return found === null ? { value, bond: undefined } : { value: found[1] ?? "", bond: found[2] };
}

/** Marks an event of a stream. */
export function bindEvent(event: Members, bond: string): Members {
  const { response, item } = event;
  return {
    ...changed(event, ["item_id", "response_id"], (value) => mark(value, bond)),
    ...(isObject(response) && { response: bindResponse(response, bond) }),
    ...(item !== undefined && { item: bindItem(item, bond) }),
  };
}

type KeyBinding = { reply: (reply: WholeReply) => WholeReply; event: (event: SseEvent) => Buffer };

/** Marks a whole response or the events of its stream. */
export function createBinding(bond: string): KeyBinding {
  return {
    reply: (whole) => ({
      headers: whole.headers,
      bytes: Buffer.from(JSON.stringify(bindResponse(readJsonReply(whole).reply, bond))),
    }),
    event: ({ name, data, raw }) => {
      const event = data === undefined ? undefined : parseObjectText(data);
      if (event === undefined) return raw;
      const head = name === "" ? "" : `event: ${name}\n`;
      return Buffer.from(`${head}data: ${JSON.stringify(bindEvent(event, bond))}\n\n`);
    },
  };
}

/** `param`: the parameter with the bound value. */
export type KeyBond = { value: string; param: string };

/**
 * Removes the marks from a request, and finds the key that it is bound to: that of the response or conversation which
 * it continues, else that of the last marked item. Drops reasoning that was encrypted for another key, as this key
 * cannot decrypt it.
 * @returns the same members if nothing is marked
 */
export function takeBonds(asked: Members): { asked: Members; bond: KeyBond | undefined } {
  let bond: KeyBond | undefined;
  let isMarked = false;
  const unmark = (value: unknown, param: string): unknown => {
    if (isObject(value)) return { ...value, id: unmark(value["id"], param) };
    const found = typeof value === "string" ? marked.exec(value) : null;
    if (found === null) return value;
    isMarked = true;
    bond = { value: found[2] ?? "", param };
    return found[1];
  };
  const { input, tools } = asked;
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
  const whole: Members = { ...asked };
  for (const name of heads) if (asked[name] !== undefined) whole[name] = unmark(asked[name], name);
  if (!isMarked) return { asked, bond: undefined };
  if (unmarkedTools !== undefined) whole["tools"] = unmarkedTools;
  if (items !== undefined) {
    whole["input"] = unmarkedItems?.filter((_item, i) => !isForeign(items[i], bond));
  }
  return { asked: whole, bond };
}

function isForeign(item: unknown, bond: KeyBond | undefined): boolean {
  if (!isObject(item) || item["type"] !== "reasoning" || typeof item["encrypted_content"] !== "string") return false;
  const found = marked.exec(item["encrypted_content"]);
  return found !== null && found[2] !== bond?.value;
}
