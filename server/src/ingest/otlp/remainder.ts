import { isObject, isRawNumber, parseJsonText } from "../../lib/json.ts";
import { asText } from "./attribute-bag.ts";
import { wordIn } from "../../messages/json-word.ts";

/** Looks for attributes that a convention took in all that the span will hold. */
export type Held = {
  /**
   * What of a value is held nowhere; undefined where nothing is left.
   *
   * - A text is held where the same text stands, under whatever name: conventions name things anew. A long one may be a part
   *   of another text, a short one must be a line of it.
   * - A number or a boolean within a tree is held where the same name has it: the same number is elsewhere by chance.
   * - Of messages, requests and responses, what only gives them their form is left out. The user's own objects have no such parts.
   * - A tree of which nothing is held is left over whole.
   */
  remainder(key: string, value: unknown): unknown;
  /** Holds more, so that what several attributes say is left over once. */
  add(key: string, value: unknown): void;
};

/** Values that tell the form of a message or a body, and nothing of what it says. */
const formWords: ReadonlySet<string> = new Set([
  ..."assistant user system tool developer function model human ai generic".split(" "),
  ..."AIMessage AIMessageChunk HumanMessage SystemMessage ToolMessage FunctionMessage".split(" "),
  ..."text message messages prompt reasoning thinking refusal image image_url file blob uri audio".split(" "),
  ..."input_text output_text summary_text input_image object list constructor".split(" "),
  ..."tool_call tool-call tool_calls tool-calls tool_use toolUse tool_result tool-result tool_call_response".split(" "),
  ..."function_call function_call_output custom_tool_call custom_tool_call_output".split(" "),
  ..."chat chat.completion chat.completion.chunk text_completion response embedding generation".split(" "),
  ..."LLMResult ChatGeneration ChatGenerationChunk application/json text/plain".split(" "),
  ..."completed complete success error json null None {} [] N/A".split(" "),
]);

/** Why an answer ends that is whole. */
const usualEnds: ReadonlySet<string> = new Set(
  "stop STOP end_turn endTurn tool_calls tool-calls tool_call tool_use toolUse function_call completed null None".split(
    " ",
  ),
);
const longestWord = Math.max(...[...formWords, ...usualEnds].map(({ length }) => length));
const reasonMember = /reasons?$/i;
/** The type of data that a message has, which tells its type itself. */
const mediaMember = /(?:mime|media)_?type$/i;

/** Members that every request or answer has. */
const formMembers: ReadonlySet<string> = new Set(
  "id index lc object created created_at logprobs system_fingerprint service_tier is_error event.name".split(" "),
);
/** Members that messages, answers and their parts have, and the objects of users mostly have not. */
const signsOfForm = [
  ..."role type object lc kwargs content parts message tool_calls choices candidates generations".split(" "),
  ..."finish_reason finishReason stop_reason".split(" "),
];
/** Members whose numbers the span's own counts tell, in another sum at times. */
const countMember = /usage|(?<!budget_|max_)tokens?(?:_details)?$/i;

/** How many characters may be searched for texts that are held within others, for each span. */
const searchedChars = 8_000_000;
/** A shorter text is found in another by chance. */
const searchableChars = 4;
const substringChars = 24;

type Places = { body: Readonly<Record<string, unknown>>; metadata: ReadonlyMap<string, unknown> };

type Options = {
  /** Text that is JSON of a tree, as the tree; anything else as it is. */
  parse: (value: unknown) => unknown;
  /** Whether the span has counts of tokens. */
  hasCounts: boolean;
};

export function createHeld({ body, metadata }: Places, { parse, hasCounts }: Options): Held {
  let known: Known | undefined;
  const all = (): Known => (known ??= knownIn([...Object.entries(body), ["model", askedModel(body)], ...metadata]));
  const isPlaced = placedIn({ body, metadata });
  const isHeld = (name: string | undefined, value: unknown): boolean => {
    if (known === undefined && isPlaced(name, value)) return true;
    const text = scalarText(value);
    if (text === undefined || text.trim() === "") return true;
    return name !== undefined && typeof value !== "string" ? all().hasNamed(name, text) : all().hasText(text);
  };
  const leftOf = (name: string | undefined, given: unknown, isForm: boolean): Left => {
    if (typeof given === "string") {
      if (isForm && isFormWord(name ?? "", given)) return nothing;
      if (isHeld(name, given)) return understood;
    }
    const value = parse(given);
    if (value === undefined || value === null) return nothing;
    if (isScalar(value)) return typeof given !== "string" && isHeld(name, value) ? understood : unknown(given);
    const left = Array.isArray(value)
      ? leftOfList(name, value as unknown[], isForm)
      : leftOfObject(value as Record<string, unknown>, isForm || isOfForm(value));
    // Text within a tree stays in one piece.
    return typeof given === "string" && left.rest !== undefined ? { ...left, rest: given } : left;
  };
  const leftOfList = (name: string | undefined, items: readonly unknown[], isForm: boolean): Left => {
    let [isUnderstood, isEmpty] = [false, true];
    let rest: unknown[] | undefined;
    for (const item of items) {
      const left = leftOf(name, item, isForm);
      isUnderstood ||= left.isUnderstood;
      isEmpty &&= left.isEmpty;
      if (left.rest !== undefined) (rest ??= []).push(left.rest);
    }
    return { isUnderstood, isEmpty, rest };
  };
  const leftOfObject = (object: Readonly<Record<string, unknown>>, isForm: boolean): Left => {
    let [isUnderstood, isEmpty] = [false, true];
    let rest: Array<[string, unknown]> | undefined;
    for (const name in object) {
      const found = leftOf(name, object[name], isForm);
      const left =
        isForm && hasCounts && found.rest !== undefined && countMember.test(name) ? withoutCounts(found) : found;
      isUnderstood ||= left.isUnderstood;
      isEmpty &&= left.isEmpty;
      if (left.rest !== undefined) (rest ??= []).push([name, left.rest]);
    }
    const isOnlyForm = (name: string): boolean => isForm && formMembers.has(name) && (isUnderstood || name !== "id");
    rest = rest?.filter(([name]) => !isOnlyForm(name));
    return { isUnderstood, isEmpty, rest: rest && rest.length > 0 ? Object.fromEntries(rest) : undefined };
  };
  return {
    remainder(key, given) {
      const value = parse(given);
      const isForm = isScalar(value) || holdsOnlyNumbers(value);
      const left = leftOf(isScalar(value) ? undefined : key, value, isForm);
      if (left.isUnderstood) return left.rest;
      return left.isEmpty ? undefined : given;
    },
    add: (name, value) => all().add(name, value),
  };
}

/** How often the search for a text may begin anew: fields and messages are mostly taken in the order in which they were placed. */
const searches = 8;

/**
 * Looks where most values stand, which costs less than to collect all that a span holds: in the field or the metadata of the
 * same name, in any field, or among the texts within others, next after the one that was found last.
 */
function placedIn({ body, metadata }: Places): (name: string | undefined, value: unknown) => boolean {
  const fields: string[] = [];
  const within: string[] = [];
  for (const value of metadata.values()) addTexts(value, within);
  for (const field in body) {
    const value = body[field];
    if (typeof value === "string") fields.push(value);
    else addTexts(value, within);
  }
  let next = 0;
  let left = searches;
  return (name, value) => {
    if (name !== undefined && (body[name] === value || metadata.get(name) === value)) return true;
    if (typeof value !== "string") return false;
    if (fields.includes(value)) return true;
    let at = within.indexOf(value, next);
    if (at === -1 && left > 0) {
      left -= 1;
      at = within.indexOf(value);
    }
    next = at + 1;
    return at !== -1;
  };
}

function addTexts(value: unknown, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (Array.isArray(value)) for (const item of value as unknown[]) addTexts(item, into);
  else if (isObject(value)) for (const name in value) addTexts(value[name], into);
}

/** Who asked for a model by its name without a date is answered by one with a date. */
function askedModel({ model }: Places["body"]): string | undefined {
  return typeof model === "string" ? model.replace(/[-@]20\d\d-?\d\d-?\d\d$/, "") : undefined;
}

function isFormWord(name: string, text: string): boolean {
  // Looking a long text up would hash it.
  const isWord = text.length <= longestWord && (reasonMember.test(name) ? usualEnds : formWords).has(text);
  return isWord || mediaMember.test(name);
}

type Left = {
  isUnderstood: boolean;
  /** Whether there is nothing but form. */
  isEmpty: boolean;
  rest: unknown;
};
const nothing: Left = { isUnderstood: false, isEmpty: true, rest: undefined };
const understood: Left = { isUnderstood: true, isEmpty: false, rest: undefined };
const unknown = (rest: unknown): Left => ({ isUnderstood: false, isEmpty: false, rest });

function withoutCounts(left: Left): Left {
  const rest = withoutNumbers(left.rest);
  return rest === left.rest ? left : { ...left, isUnderstood: true, rest };
}

function isOfForm(object: object): boolean {
  return signsOfForm.some((name) => name in object) || Object.keys(object).some((name) => name.startsWith("gen_ai."));
}

/** Counts, in an object or in objects of objects. */
function holdsOnlyNumbers(value: unknown): boolean {
  if (!isObject(value) || isRawNumber(value)) return isRawNumber(value) || typeof value === "number" || value === null;
  return Object.values(value).every(holdsOnlyNumbers);
}

/** The same value where it has no numbers. */
function withoutNumbers(value: unknown): unknown {
  if (typeof value === "number" || isRawNumber(value)) return undefined;
  if (Array.isArray(value)) {
    const items = (value as unknown[]).map(withoutNumbers);
    if (items.every((item, at) => item === value[at])) return value;
    const rest = items.filter((item) => item !== undefined);
    return rest.length > 0 ? rest : undefined;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, withoutNumbers(member)]);
  if (members.every(([name, member]) => member === value[name])) return value;
  const rest = members.filter(([, member]) => member !== undefined);
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

type Known = Pick<Held, "add"> & {
  hasText(text: string): boolean;
  /** Whether a number or a boolean of this text has this name. */
  hasNamed(name: string, text: string): boolean;
};

/** The values within others; what is put together of several texts is searched, as far as that is affordable. */
function knownIn(values: Iterable<readonly [name: string, value: unknown]>): Known {
  const found: Found = { texts: new TextSet(), named: [], nested: [] };
  for (const [name, value] of values) collect(name, value, found);
  // The arguments of calls are text of JSON.
  const readNested = (): void => {
    for (let json = found.nested.pop(); json !== undefined; json = found.nested.pop()) {
      const parsed = parseJsonText(json);
      if (parsed.ok) collect("", parsed.value, { ...found, nested: [] });
    }
  };
  const keys = new Set<string>();
  const readNames = (): void => {
    for (const [name, text] of found.named.splice(0)) keys.add(nameKey(name, text));
  };
  let all: string | undefined;
  let left = searchedChars;
  const isWithin = (text: string): boolean => {
    if (text.length < searchableChars) return false;
    all ??= `\n${[...found.texts].join("\n")}\n`;
    left -= all.length;
    if (left < 0) return false;
    return text.length < substringChars
      ? all.includes(`\n${text}\n`)
      : all.includes(text) || all.includes(JSON.stringify(text).slice(1, -1));
  };
  return {
    add(name, value) {
      all = undefined;
      collect(name, value, found);
    },
    hasText(text) {
      if (found.texts.has(text)) return true;
      const word = wordIn(text);
      if (word !== text && found.texts.has(word)) return true;
      readNested();
      return found.texts.has(text) || isWithin(text);
    },
    hasNamed(name, text) {
      const key = nameKey(name, text);
      readNames();
      if (keys.has(key)) return true;
      readNested();
      readNames();
      return keys.has(key);
    },
  };
}

/** A field has a name, and so has the parameter of each API that it is read from: `maxOutputTokens`, `gen_ai.request.top_k`. */
function nameKey(name: string, text: string): string {
  const last = name
    .slice(name.lastIndexOf(".") + 1)
    .replaceAll("_", "")
    .toLowerCase();
  return `${parameterAliases.get(last) ?? last}=${text}`;
}

const parameterAliases: ReadonlyMap<string, string> = new Map([
  ["maxoutputtokens", "maxtokens"],
  ["maxcompletiontokens", "maxtokens"],
]);

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

/** `named` holds numbers and booleans with their names, of which few spans are asked. */
type Found = { texts: TextSet; named: Array<[name: string, text: string]>; nested: string[] };

function collect(name: string, root: unknown, into: Found): void {
  const open: unknown[] = [root];
  const names: string[] = [name];
  while (open.length > 0) {
    const value = open.pop();
    const of = names.pop() ?? "";
    if (typeof value === "string") {
      const first = value.charCodeAt(0);
      if (first === brace || first === bracket) into.nested.push(value);
      into.texts.add(value);
    } else if (Array.isArray(value)) {
      for (const item of value as unknown[]) {
        open.push(item);
        names.push(of);
      }
    } else if (isRawNumber(value) || !isObject(value)) {
      const text = scalarText(value);
      if (text === undefined) continue;
      into.texts.add(text);
      into.named.push([of, text]);
    } else {
      for (const member in value) {
        open.push(value[member]);
        names.push(member);
      }
    }
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
