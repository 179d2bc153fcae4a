import { isObject, isRawNumber, parseJsonText } from "../../lib/json.ts";
import { asText } from "./attribute-bag.ts";
import { wordIn } from "../../messages/json-word.ts";

/** Finds taken attributes in everything that the span will contain. */
export type RecordedValues = {
  /**
   * The part of a value that is found nowhere; undefined if nothing is left.
   *
   * - A text counts as found if the same text occurs under any name, because conventions rename things. A long one may
   * be a part of another text, a short one must be a whole line of it.
   * - A number or a boolean within a tree counts as found only under the same name: equal numbers occur elsewhere by
   * chance.
   * - In messages, requests and responses, purely structural members are left out. The user's own objects have none.
   * - A tree of which nothing is found is returned whole.
   */
  remainder(key: string, value: unknown): unknown;
  /** Adds a value, so that content of several attributes is left over only once. */
  add(key: string, value: unknown): void;
};

/** Values that only describe the structure of a message or a body. */
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

/** Finish reasons of a complete response. */
const usualEnds: ReadonlySet<string> = new Set(
  "stop STOP end_turn endTurn tool_calls tool-calls tool_call tool_use toolUse function_call completed null None".split(
    " ",
  ),
);
const longestWord = Math.max(...[...formWords, ...usualEnds].map(({ length }) => length));
const reasonMember = /reasons?$/i;
/** The media type of a message part, which already has a type. */
const mediaMember = /(?:mime|media)_?type$/i;

/** Members that every request or response has. */
const formMembers: ReadonlySet<string> = new Set(
  "id index lc object created created_at logprobs system_fingerprint service_tier is_error event.name".split(" "),
);
/** Members of messages, responses and their parts, which users' own objects mostly lack. */
const signsOfForm = [
  ..."role type object lc kwargs content parts message tool_calls choices candidates generations".split(" "),
  ..."finish_reason finishReason stop_reason".split(" "),
];
/** Members whose numbers are covered by the span's own counts, sometimes as other sums. */
const countMember = /usage|(?<!budget_|max_)tokens?(?:_details)?$/i;

/** Maximum number of characters searched for texts within other texts, per span. */
const searchedChars = 8_000_000;
/** A shorter text occurs in another by chance. */
const searchableChars = 4;
const substringChars = 24;

type Places = { body: Readonly<Record<string, unknown>>; metadata: ReadonlyMap<string, unknown> };

type Options = {
  /** Parses text that is JSON of a tree; returns anything else unchanged. */
  parse: (value: unknown) => unknown;
  /** Whether the span has token counts. */
  hasCounts: boolean;
};

export function createRecordedValues({ body, metadata }: Places, { parse, hasCounts }: Options): RecordedValues {
  let known: Known | undefined;
  const all = (): Known => (known ??= knownIn([...Object.entries(body), ["model", requestedModel(body)], ...metadata]));
  const isPlaced = placedIn({ body, metadata });
  const isRecorded = (name: string | undefined, value: unknown): boolean => {
    if (known === undefined && isPlaced(name, value)) return true;
    const text = scalarText(value);
    if (text === undefined || text.trim() === "") return true;
    return name !== undefined && typeof value !== "string" ? all().hasNamed(name, text) : all().hasText(text);
  };
  const leftOf = (name: string | undefined, given: unknown, isForm: boolean): Left => {
    if (typeof given === "string") {
      if (isForm && isFormWord(name ?? "", given)) return nothing;
      if (isRecorded(name, given)) return understood;
    }
    const value = parse(given);
    if (value === undefined || value === null) return nothing;
    if (isScalar(value)) return typeof given !== "string" && isRecorded(name, value) ? understood : unknown(given);
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

/**
 * How often the search for a text may start over: fields and messages are mostly taken in the order in which they were
 * placed.
 */
const searches = 8;

/**
 * Checks the most likely places first, which is cheaper than collecting everything in the span: the field or the
 * metadata of the same name, any field, or the nested texts, starting after the last one found.
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

/** A request for a model without a date is answered by a model with one. */
function requestedModel({ model }: Places["body"]): string | undefined {
  return typeof model === "string" ? model.replace(/[-@]20\d\d-?\d\d-?\d\d$/, "") : undefined;
}

function isFormWord(name: string, text: string): boolean {
  // Looking up a long text would hash it.
  const isWord = text.length <= longestWord && (reasonMember.test(name) ? usualEnds : formWords).has(text);
  return isWord || mediaMember.test(name);
}

type Left = {
  isUnderstood: boolean;
  /** Whether there is only structure. */
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

/** Whether a value consists of numbers, at any depth of objects. */
function holdsOnlyNumbers(value: unknown): boolean {
  if (!isObject(value) || isRawNumber(value)) return isRawNumber(value) || typeof value === "number" || value === null;
  return Object.values(value).every(holdsOnlyNumbers);
}

/** Removes numbers; returns the same value if it has none. */
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

type Known = Pick<RecordedValues, "add"> & {
  hasText(text: string): boolean;
  /** Whether a number or a boolean with this text has this name. */
  hasNamed(name: string, text: string): boolean;
};

/** All nested values; texts within other texts are searched as far as the budget allows. */
function knownIn(values: Iterable<readonly [name: string, value: unknown]>): Known {
  const found: Found = { texts: new TextSet(), named: [], nested: [] };
  for (const [name, value] of values) collect(name, value, found);
  // The arguments of calls are JSON text.
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

/**
 * The last part of a name, without underscores, so that a field and the parameters of all APIs match:
 * `maxOutputTokens`, `gen_ai.request.top_k`.
 */
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

/** A set of texts that does not hash long ones unless many have the same length: most are looked up once or never. */
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

/** `named` contains numbers and booleans with their names, which few spans need. */
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
