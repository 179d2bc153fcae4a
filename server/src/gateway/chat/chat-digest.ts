import { isObject } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";
import { TextAccumulator } from "../stream/text-accumulator.ts";
import { withoutIndexes } from "../stream/number-items.ts";
import { usageOf, usageWithTier } from "../providers/openai/read-reply.ts";

/**
 * The content of a stream, collected from its chunks: the messages as a complete reply would contain them, and the usage.
 */
export type ChatDigest = {
  /** Adds one chunk. Returns whether it has content that a caller could already have used. */
  add(chunk: Record<string, unknown>): boolean;
  /**
   * Adds a chunk that contains only the text of a choice: a range of UTF-8 in `bytes` and its length in UTF-16 units.
   * False if there is no room: then nothing was added. Absent if complete chunks are needed.
   */
  addText?: (index: number, bytes: Buffer, place: { from: number; to: number; chars: number }) => boolean;
  /** Whether every choice that began has its finish reason. */
  isFinished(): boolean;
  /** In the order of their index; empty if no content came. */
  messages(): Array<Record<string, unknown>>;
  finishReasons(): Array<string | null>;
  /** The last usage with content: upstreams send it once, on every chunk, or repeatedly with more detail. */
  usage(): Record<string, unknown> | undefined;
  /** Sets the source of interim usage, before the stream states its usage. */
  expectUsage(source: () => Record<string, unknown> | undefined): void;
  /** The interim usage of a stream that broke off. */
  usageSoFar(): Record<string, unknown> | undefined;
  /** The stream's own id and model, from its first chunk. */
  id(): string | undefined;
  model(): string | undefined;
  created(): number | undefined;
  /** Whether text beyond the limit was omitted. */
  isTruncated(): boolean;
  /** Characters of text and tool arguments, including omitted ones. */
  chars(): number;
};

/**
 * `type` is `function`, or `custom` for a tool with text input; `rest` has provider-specific members, such as
 * signatures.
 */
type Call = { id: string | undefined; type: string; name: string; args: string; rest: Record<string, unknown> };
type Choice = {
  content: TextAccumulator;
  hasContent: boolean;
  refusal: string;
  reasoning: string;
  calls: Map<number, Call>;
  rest: Record<string, unknown>;
  finish: string | null;
};

export function createChatDigest(): ChatDigest {
  const choices = new Map<number, Choice>();
  let usage: Record<string, unknown> | undefined;
  let usageSource: (() => Record<string, unknown> | undefined) | undefined;
  let first: Record<string, unknown> | undefined;
  let chars = 0;

  const text = (value: unknown): string => {
    if (typeof value !== "string") return "";
    const room = gatewayLimits.recordedChars - chars;
    chars += value.length;
    return value.length <= room ? value : value.slice(0, Math.max(0, room));
  };

  const choiceAt = (index: unknown): Choice | undefined => {
    const key = typeof index === "number" ? index : 0;
    let choice = choices.get(key);
    if (choice === undefined && choices.size < gatewayLimits.recordedChoices) choices.set(key, (choice = newChoice()));
    return choice;
  };

  /** Adds a delta. Returns whether it has content. */
  const addDelta = (choice: Choice, delta: Record<string, unknown>): boolean => {
    let hasContent = false;
    for (const member of Object.keys(delta)) {
      const value = delta[member];
      if (member === "role" || isEmpty(value)) continue;
      hasContent = true;
      if (member === "content" && typeof value === "string") {
        choice.content.add(text(value));
        choice.hasContent = true;
      } else if (member === "content" && Array.isArray(value)) addParts(choice, value, text);
      else if (member === "tool_calls") addCalls(choice.calls, value, text);
      else if (member === "refusal") choice.refusal += text(value);
      else if (member === "reasoning_content") choice.reasoning += text(value);
      else if (member === "reasoning") {
        // Servers that renamed the member sent both for a while.
        if (isEmpty(delta["reasoning_content"])) choice.reasoning += text(value);
      } else addOthers(choice.rest, member, Array.isArray(value) ? withoutIndexes(member, value) : value, text);
    }
    return hasContent;
  };

  return {
    add(chunk) {
      // Azure's first chunk is about the prompt and has no id.
      if (first === undefined || first["id"] === "") first = chunk;
      const stated = usageOf(chunk);
      if (stated !== undefined) usage = usageWithTier(stated, chunk);
      const list = chunk["choices"];
      if (!Array.isArray(list)) return false;
      let hasContent = false;
      for (const item of list as unknown[]) {
        const choice = isObject(item) ? choiceAt(item["index"]) : undefined;
        if (!isObject(item) || choice === undefined) continue;
        const delta = item["delta"] ?? item["message"];
        if (isObject(delta) && addDelta(choice, delta)) hasContent = true;
        if (typeof item["finish_reason"] === "string" && item["finish_reason"] !== "") {
          choice.finish = item["finish_reason"];
          hasContent = true;
        }
      }
      return hasContent;
    },
    addText(index, bytes, { from, to, chars: count }) {
      const choice = chars + count <= gatewayLimits.recordedChars ? choiceAt(index) : undefined;
      if (choice === undefined) return false;
      chars += count;
      choice.content.addBytes(bytes, from, to);
      choice.hasContent = true;
      return true;
    },
    isFinished: () => choices.size > 0 && Array.from(choices.values()).every(({ finish }) => finish !== null),
    messages: () => inOrder(choices).map(messageOf),
    finishReasons: () => inOrder(choices).map(({ finish }) => finish),
    usage: () => usage,
    expectUsage: (source) => void (usageSource = source),
    usageSoFar: () => usageSource?.(),
    id: () => textMember(first, "id"),
    model: () => textMember(first, "model"),
    created: () => (typeof first?.["created"] === "number" ? first["created"] : undefined),
    isTruncated: () => chars > gatewayLimits.recordedChars,
    chars: () => chars,
  };
}

function newChoice(): Choice {
  return {
    content: new TextAccumulator(),
    hasContent: false,
    refusal: "",
    reasoning: "",
    calls: new Map(),
    rest: {},
    finish: null,
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

function addCalls(calls: Map<number, Call>, value: unknown, text: (value: unknown) => string): void {
  if (!Array.isArray(value)) return;
  for (const [position, item] of (value as unknown[]).entries()) {
    if (!isObject(item)) continue;
    const index = typeof item["index"] === "number" ? item["index"] : position;
    let call = calls.get(index);
    if (call === undefined) {
      if (calls.size >= gatewayLimits.recordedToolCalls) continue;
      calls.set(index, (call = { id: undefined, type: "function", name: "", args: "", rest: {} }));
    }
    if (typeof item["id"] === "string" && item["id"] !== "") call.id ??= item["id"];
    if (isObject(item["custom"])) call.type = "custom";
    for (const member of Object.keys(item)) if (!ofCalls.has(member)) call.rest[member] = item[member];
    const called = item["custom"] ?? item["function"];
    if (!isObject(called)) continue;
    if (call.name === "") call.name = text(called["name"]);
    call.args += text(called["input"] ?? called["arguments"]);
  }
}

const ofCalls: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"]);

/**
 * Content in parts, as Mistral's reasoning models send it: `{type: "thinking", thinking: […]}` and `{type: "text",
 * text}`.
 */
function addParts(choice: Choice, parts: readonly unknown[], text: (value: unknown) => string): void {
  for (const part of parts) {
    if (!isObject(part)) continue;
    const { thinking } = part;
    const thoughts: unknown[] = Array.isArray(thinking) ? thinking : [];
    for (const thought of thoughts) if (isObject(thought)) choice.reasoning += text(thought["text"]);
    if (typeof part["text"] !== "string") continue;
    choice.content.add(text(part["text"]));
    choice.hasContent = true;
  }
}

/** Members of objects that come in pieces: of audio output, and of the legacy `function_call`. */
const pieces: ReadonlySet<string> = new Set(["transcript", "data", "arguments"]);

/** Provider-specific members. Lists and objects are merged; of anything else the last value counts. */
function addOthers(
  rest: Record<string, unknown>,
  member: string,
  value: unknown,
  text: (value: unknown) => string,
): void {
  const known = rest[member];
  if (isObject(value) && isObject(known)) {
    const grown = { ...known };
    for (const [name, piece] of Object.entries(value)) {
      const before = grown[name];
      grown[name] = pieces.has(name) && typeof before === "string" ? before + text(piece) : piece;
    }
    rest[member] = grown;
  } else if (Array.isArray(value) && Array.isArray(known)) {
    if (known.length < gatewayLimits.recordedToolCalls)
      rest[member] = [...(known as unknown[]), ...(value as unknown[])];
  } else if (known !== undefined || Object.keys(rest).length < gatewayLimits.recordedChoices) rest[member] = value;
}

function inOrder(choices: Map<number, Choice>): Choice[] {
  return [...choices.entries()].sort(([a], [b]) => a - b).map(([, choice]) => choice);
}

function messageOf({ content, hasContent, refusal, reasoning, calls, rest }: Choice): Record<string, unknown> {
  const toolCalls = [...calls.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, { id, type, name, args, rest: attached }]) => ({
      ...attached,
      id: id ?? "",
      type,
      ...(type === "custom" ? { custom: { name, input: args } } : { function: { name, arguments: args } }),
    }));
  return {
    role: "assistant",
    content: hasContent || toolCalls.length === 0 ? content.readLast() : null,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(refusal !== "" && { refusal }),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...rest,
  };
}

function textMember(chunk: Record<string, unknown> | undefined, member: string): string | undefined {
  const value = chunk?.[member];
  return typeof value === "string" && value !== "" ? value : undefined;
}
