import { isObject, isRawNumber } from "../../src/lib/json.ts";
import type { AttributeValue } from "../../src/ingest/otlp/export-request.ts";
import type { Row } from "./test-client.ts";

/**
 * The attributes of a span that its row holds nowhere, as `key.member: value`: not as a field, not in a message, not in metadata,
 * be it within other text. Attributes that are JSON text are looked for value by value.
 */
export function lostValues(attributes: ReadonlyMap<string, AttributeValue>, row: Row): string[] {
  const held = new Set(leavesOf("", row).map(([, text]) => text));
  const all = [...held].join("\n\0");
  const isHeld = (text: string): boolean => held.has(text) || (text.length > 3 && all.includes(text));
  return [...attributes]
    .filter(([key]) => !isTime.test(key))
    .flatMap(([key, value]) => leavesOf(key, value))
    .filter(([path, text]) => !isForm(path, text) && !isHeld(text) && !isHeld(text.toLowerCase()))
    .filter(([, text]) => !text.split(/, ?/).every(isHeld))
    .map(([path, text]) => `${path}: ${text}`);
}

/** Times that are held as times of the span, in another form. */
const isTime = /^gen_ai\.event\.(?:start|end)_time$|completion_start_time$|time_to_first_token$/;
/** What tells the form of something that is held, or is the same in every request and answer. */
const formMembers =
  /(?:^|[.\]-])(?:id|lc|type|role|index|object|status|created(?:_at)?|finish_reason|system_fingerprint|service_tier|mime_type|content-type|output_mode)(?:\[\])*$/;
/** Counts of tokens: the span's own tell them, as sums of other parts at times. Budgets are none. */
const countMembers = /usage|(?<!budget_|max_)tokens?(?:_count|_details)?\b|audio$/;
/** Vectors of embeddings are not kept; reserved metadata is not shown; Logfire's schema only says which attributes are JSON. */
const unkept = /(?:embedding|vector)\S*(?:\[\])+$|\.metadata\._|^logfire\.json_schema/;

/** A chat, of which the span knows that it went to the Responses API. */
const isKind = /^(?:gen_ai\.operation\.name|\w+\.entity\.log_type): chat$/;

function isForm(path: string, text: string): boolean {
  if (text.trim() === "" || text === "null" || text === "None" || isKind.test(`${path}: ${text}`)) return true;
  if (formMembers.test(path) || unkept.test(path)) return true;
  return /^[\d.]+$/.test(text) && countMembers.test(path);
}

function leavesOf(path: string, given: unknown): Array<[path: string, text: string]> {
  const value = parsed(given);
  if (typeof value === "string" && value !== given) return leavesOf(path, value);
  if (value === null || value === undefined) return [];
  if (isRawNumber(value)) return [[path, value.rawJSON]];
  if (Array.isArray(value)) return (value as unknown[]).flatMap((item) => leavesOf(`${path}[]`, item));
  if (isObject(value)) return Object.entries(value).flatMap(([name, member]) => leavesOf(`${path}.${name}`, member));
  return [[path, typeof value === "string" ? value : JSON.stringify(value)]];
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  // Python prints some values in a form of its own.
  for (const json of [value, value.replaceAll("'", '"').replaceAll(/\bNone\b/g, "null")]) {
    try {
      return JSON.parse(json) as unknown;
    } catch {
      continue;
    }
  }
  return value;
}
