import { isObject, isRawNumber, parseJsonText } from "../../lib/json.ts";
import { asText } from "./attribute-bag.ts";
import { wordIn } from "./json-word.ts";

/** Where an attribute is looked for that a convention took: all that a span will hold. */
export type Held = {
  /**
   * What of a value is held nowhere; undefined where nothing is left. Of a tree that was understood, which is one that is
   * held in part, what only gives it its form is left out: the names of types and roles, and members that every request or
   * answer has. A tree of which nothing was understood is left over whole.
   */
  remainder(value: unknown): unknown;
};

/** Values that tell the form of a message or a body, and nothing of what it says. */
const formWords: ReadonlySet<string> = new Set([
  ..."assistant user system tool developer function model human ai generic".split(" "),
  ..."AIMessage AIMessageChunk HumanMessage SystemMessage ToolMessage FunctionMessage".split(" "),
  ..."text message messages prompt reasoning thinking refusal image image_url file blob uri audio".split(" "),
  ..."input_text output_text summary_text input_image object list constructor".split(" "),
  ..."tool_call tool-call tool_calls tool_use tool_result tool-result tool_call_response".split(" "),
  ..."function_call function_call_output custom_tool_call custom_tool_call_output".split(" "),
  ..."chat chat.completion chat.completion.chunk text_completion response embedding generation".split(" "),
  ..."LLMResult ChatGeneration ChatGenerationChunk application/json text/plain".split(" "),
  ..."completed complete success error null None {} [] N/A".split(" "),
]);

/** Members that every request or answer has. */
const formMembers: ReadonlySet<string> = new Set([
  ..."id index lc object created created_at status finish_reason finishReason stop_reason stop_sequence".split(" "),
  ..."logprobs system_fingerprint service_tier is_error event.name".split(" "),
]);
/** Members whose numbers the span's own counts tell, in another sum at times. */
const countMember = /usage|(?<!budget_|max_)tokens?(?:_details)?$/i;

/** How many characters may be searched for texts that are held within others, for each span. */
const searchedChars = 8_000_000;
/** A shorter text is found in another by chance. */
const searchableChars = 4;

/** @param parse text that is JSON of a tree, as the tree; anything else as it is */
export function createHeld(values: Iterable<unknown>, parse: (value: unknown) => unknown): Held {
  const texts = textsOf(values);
  const isHeld = (value: unknown): boolean => {
    const text = scalarText(value);
    return text === undefined || texts.has(text) || text.trim() === "";
  };
  const leftOf = (given: unknown): Left => {
    if (typeof given === "string") {
      if (given.length <= hashedChars && formWords.has(given)) return nothing;
      if (isHeld(given)) return understood;
    }
    const value = parse(given);
    if (value === undefined || value === null) return nothing;
    if (isScalar(value)) return isHeld(value) ? understood : { isUnderstood: false, rest: given };
    const left = Array.isArray(value) ? leftOfList(value as unknown[], leftOf) : leftOfObject(value, leftOf);
    // Text within a tree stays in one piece.
    return typeof given === "string" && left.rest !== undefined ? { ...left, rest: given } : left;
  };
  return {
    remainder(given) {
      const value = parse(given);
      const { isUnderstood, rest } = leftOf(value);
      if (rest === undefined) return undefined;
      return isUnderstood ? rest : given;
    },
  };
}

type Left = { isUnderstood: boolean; rest: unknown };
const nothing: Left = { isUnderstood: false, rest: undefined };
const understood: Left = { isUnderstood: true, rest: undefined };

function leftOfList(list: readonly unknown[], leftOf: (value: unknown) => Left): Left {
  const rest: unknown[] = [];
  let isUnderstood = false;
  for (const item of list) {
    const left = leftOf(item);
    isUnderstood ||= left.isUnderstood;
    if (left.rest !== undefined) rest.push(left.rest);
  }
  return { isUnderstood, rest: rest.length > 0 ? rest : undefined };
}

function leftOfObject(object: object, leftOf: (value: unknown) => Left): Left {
  const members: Array<[name: string, rest: unknown]> = [];
  let isUnderstood = false;
  for (const [name, value] of Object.entries(object)) {
    const left = leftOf(value);
    isUnderstood ||= left.isUnderstood;
    const rest = left.rest !== undefined && countMember.test(name) ? withoutNumbers(left.rest) : left.rest;
    if (rest !== undefined) members.push([name, rest]);
  }
  const rest = isUnderstood ? members.filter(([name]) => !formMembers.has(name)) : members;
  return { isUnderstood, rest: rest.length > 0 ? Object.fromEntries(rest) : undefined };
}

function withoutNumbers(value: unknown): unknown {
  if (typeof value === "number" || isRawNumber(value)) return undefined;
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, withoutNumbers(member)]);
  const rest = members.filter(([, member]) => member !== undefined);
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

/** The texts of all values within others; what is put together of several is searched, as far as that is affordable. */
function textsOf(values: Iterable<unknown>): { has(text: string): boolean } {
  const whole = new TextSet();
  const nested: string[] = [];
  for (const value of values) collect(value, whole, nested);
  let all: string | undefined;
  let left = searchedChars;
  const isWithin = (text: string): boolean => {
    if (text.length < searchableChars) return false;
    all ??= [...whole].join("\n\0");
    left -= all.length;
    return left >= 0 && (all.includes(text) || all.includes(JSON.stringify(text).slice(1, -1)));
  };
  return {
    has(text) {
      if (whole.has(text)) return true;
      const word = wordIn(text);
      if (word !== text && whole.has(word)) return true;
      // The arguments of calls are text of JSON.
      for (let json = nested.pop(); json !== undefined; json = nested.pop()) {
        const parsed = parseJsonText(json);
        if (parsed.ok) collect(parsed.value, whole, []);
      }
      return whole.has(text) || isWithin(text);
    },
  };
}

/** Texts of which the long ones are not hashed, as long as few are of the same length: most are asked for once or not at all. */
class TextSet {
  readonly #hashed = new Set<string>();
  readonly #byLength = new Map<number, string[]>();

  has(text: string): boolean {
    if (text.length <= hashedChars) return this.#hashed.has(text);
    const alike = this.#byLength.get(text.length) ?? [];
    return alike.includes(text) || (alike.length === maxAlike && this.#hashed.has(text));
  }

  add(text: string): void {
    if (text.length <= hashedChars) {
      this.#hashed.add(text);
      return;
    }
    const alike = this.#byLength.get(text.length);
    if (alike === undefined) this.#byLength.set(text.length, [text]);
    else if (alike.length < maxAlike) alike.push(text);
    else this.#hashed.add(text);
  }

  *[Symbol.iterator](): Generator<string> {
    yield* this.#hashed;
    for (const texts of this.#byLength.values()) yield* texts;
  }
}

const hashedChars = 48;
const maxAlike = 16;

function collect(root: unknown, into: TextSet, nested: string[]): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") {
      const first = value.charCodeAt(0);
      if (first === brace || first === bracket) nested.push(value);
      into.add(value);
    } else if (Array.isArray(value)) for (const item of value as unknown[]) open.push(item);
    else if (isRawNumber(value) || !isObject(value)) {
      const text = scalarText(value);
      if (text !== undefined) into.add(text);
    } else for (const name in value) open.push(value[name]);
  }
}

const brace = 0x7b;
const bracket = 0x5b;

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || isRawNumber(value);
}

function scalarText(value: unknown): string | undefined {
  return asText(value) ?? (typeof value === "boolean" || typeof value === "bigint" ? String(value) : undefined);
}
