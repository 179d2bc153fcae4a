import { isObject } from "../../lib/json.ts";
import { withoutIndexes } from "../stream/number-items.ts";
import { usageOf } from "../providers/openai/read-reply.ts";

/** Members whose pieces are concatenated. For any other text the last one counts. */
const pieces: ReadonlySet<string> = new Set([
  "content",
  "refusal",
  "reasoning_content",
  "reasoning",
  "arguments",
  "input",
  "data",
  "transcript",
]);

/** Memory cost of a piece beside its text. */
const memberBytes = 32;

type Members = Record<string, unknown>;
type Choice = { message: Members; finish_reason: string | null; rest: Members };

/**
 * Accumulates the chunks of a stream into the equivalent complete completion, with all its members. Unlike the record it
 * never omits anything: it gives up instead.
 */
export class CompletionBuilder {
  readonly #maxBytes: number;
  readonly #choices = new Map<number, Choice>();
  #head: Members = {};
  #usage: Members | undefined;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  add(chunk: Members): void {
    if (this.isTooLarge) return;
    this.#usage = usageOf(chunk) ?? this.#usage;
    const { choices, usage: _usage, object: _object, obfuscation: _padding, ...head } = chunk;
    for (const name of Object.keys(head)) this.#head[name] ??= head[name];
    if (!Array.isArray(choices)) return;
    for (const item of choices as unknown[]) if (isObject(item)) this.#addChoice(item);
    if (!this.isTooLarge) return;
    this.#choices.clear();
    this.#head = {};
  }

  /** Undefined if there is none or it is too large. */
  build(): Members | undefined {
    if (this.isTooLarge || this.#choices.size === 0) return undefined;
    const choices = [...this.#choices.entries()].sort(([a], [b]) => a - b);
    return {
      ...this.#head,
      object: "chat.completion",
      choices: choices.map(([index, { message, finish_reason, rest }]) => ({
        index,
        message: finished(message),
        finish_reason,
        ...rest,
      })),
      ...(this.#usage && { usage: this.#usage }),
    };
  }

  #addChoice({ index, delta, message, finish_reason, ...rest }: Members): void {
    const at = typeof index === "number" ? index : 0;
    let choice = this.#choices.get(at);
    if (choice === undefined) {
      this.#bytes += memberBytes;
      this.#choices.set(at, (choice = { message: {}, finish_reason: null, rest: {} }));
    }
    const source = delta ?? message;
    if (isObject(source)) this.#merge(choice.message, source);
    if (typeof finish_reason === "string" && finish_reason !== "") choice.finish_reason = finish_reason;
    this.#merge(choice.rest, rest);
  }

  #merge(known: Members, more: Members): void {
    for (const name of Object.keys(more)) {
      const value = more[name];
      this.#bytes += memberBytes + (typeof value === "string" ? value.length : 0);
      known[name] = this.#merged(name, known[name], value);
    }
  }

  #merged(name: string, known: unknown, value: unknown): unknown {
    if (value === null || value === undefined) return known ?? value;
    if (typeof value === "string") {
      if (name === "content" && Array.isArray(known)) return withText(known, value);
      if (pieces.has(name) && typeof known === "string") return known + value;
      return value === "" ? (known ?? value) : value;
    }
    // Never changes objects of the chunk: others read them too.
    if (Array.isArray(value)) return this.#appended(name, asParts(name, known), value);
    if (!isObject(value)) return value;
    const members: Members = isObject(known) ? known : {};
    this.#merge(members, value);
    return members;
  }

  #appended(name: string, known: unknown[], more: unknown[]): unknown[] {
    for (const [position, item] of more.entries()) {
      if (!isObject(item)) {
        this.#bytes += memberBytes + (typeof item === "string" ? item.length : 0);
        known.push(item);
        continue;
      }
      const index = typeof item["index"] === "number" ? item["index"] : position;
      let members = name === "tool_calls" ? known.find((call) => isObject(call) && call["index"] === index) : undefined;
      if (!isObject(members)) known.push((members = name === "tool_calls" ? { index } : {}));
      if (isObject(members)) this.#merge(members, item);
    }
    return known;
  }
}

/** Reasoning models of Mistral send content in parts while they think, and plain text afterwards. */
function withText(parts: unknown[], text: string): unknown[] {
  const last = parts.at(-1);
  if (text === "") return parts;
  if (isObject(last) && last["type"] === "text" && typeof last["text"] === "string") last["text"] += text;
  else parts.push({ type: "text", text });
  return parts;
}

function asParts(name: string, known: unknown): unknown[] {
  if (Array.isArray(known)) return known as unknown[];
  return name === "content" && typeof known === "string" ? withText([], known) : [];
}

/** Restores a complete message: tool calls without an index, and with a role. */
function finished(message: Members): Members {
  const { tool_calls: calls } = message;
  const complete: Members = { role: "assistant", content: null, ...message };
  for (const name in complete) if (Array.isArray(complete[name])) complete[name] = withoutIndexes(name, complete[name]);
  if (!Array.isArray(calls)) return complete;
  const inOrder = (calls as unknown[]).filter(isObject).sort((a, b) => Number(a["index"]) - Number(b["index"]));
  return { ...complete, tool_calls: inOrder.map(({ index: _index, ...call }) => ({ type: "function", ...call })) };
}
