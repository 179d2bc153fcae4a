import { exceedsShape, isObject, parseJsonText } from "../../../lib/json.ts";
import { domainLimits } from "../../../domain/limits.ts";
import { filterLimits } from "../../../filter/limits.ts";
import { type ImagePart, type Part, readParts, readTextParts, type TextPart } from "./parts.ts";
import { completeJson } from "./complete-json.ts";
import { refuse } from "./refuse.ts";
import { placeOf } from "./thinking.ts";
import { withToolCalls } from "./tool-calls-of-functions.ts";

/**
 * The messages of a chat in the form that all translated providers share: separate system text, then alternating turns
 * of user and assistant that begin with the user, with the result of each tool call in the turn that follows it.
 */
export type Conversation = {
  system: TextPart[];
  turns: Turn[];
  /** Message members without a counterpart at other providers, to be reported. */
  adjusted: string[];
};

export type Turn = UserTurn | AssistantTurn;

export type UserTurn = {
  role: "user";
  /** In the order of the previous turn's calls; they precede `parts`. */
  results: ToolResult[];
  parts: Part[];
};

export type AssistantTurn = {
  role: "assistant";
  texts: TextPart[];
  /** Images that the model generated. */
  images: ImagePart[];
  calls: Call[];
  /** Signed reasoning, as this gateway returned it. */
  thinkingBlocks: unknown[];
};

export type Call = {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** The tool call as sent, with data that providers attach to it. */
  source: Record<string, unknown>;
};

export type ToolResult = { callId: string; name: string; parts: Part[]; cacheControl?: unknown };

/**
 * The user message inserted before a conversation that begins with the assistant, which Anthropic and Bedrock refuse.
 */
const openingText = "Begin.";

/** @throws ServiceError naming the invalid message: nothing is dropped */
export function readConversation(messages: unknown): Conversation {
  if (!Array.isArray(messages) || messages.length === 0) return refuse("messages", "must be a list of messages");
  const reader = new ConversationReader();
  withToolCalls(messages).forEach((message, i) => reader.read(message, `messages.${i}`));
  return reader.finish();
}

class ConversationReader {
  readonly #conversation: Conversation = { system: [], turns: [], adjusted: [] };
  /** The last assistant turn with calls, until its results are complete. */
  #open: { calls: Call[]; path: string; results: Map<string, ToolResult> } | undefined;

  read(message: unknown, path: string): void {
    if (!isObject(message)) return refuse(path, "must be an object");
    switch (message["role"]) {
      case "system":
      case "developer":
        this.#readSystem(cachedAsWhole(readTextParts(message["content"], `${path}.content`), message));
        return;
      case "user":
        this.#noteName(message);
        this.#userTurn().parts.push(...cachedAsWhole(readParts(message["content"], `${path}.content`), message));
        return;
      case "assistant":
        this.#readAssistant(message, path);
        return;
      case "tool":
        this.#readResult(message, path);
        return;
      default:
        return refuse(`${path}.role`, "must be system, developer, user, assistant or tool");
    }
  }

  finish(): Conversation {
    this.#close();
    const { turns } = this.#conversation;
    const nonEmpty = merged(turns.filter(holdsSomething));
    if (nonEmpty[0]?.role !== "user") {
      nonEmpty.unshift({ role: "user", results: [], parts: [{ type: "text", text: openingText }] });
    }
    return { ...this.#conversation, turns: nonEmpty };
  }

  #userTurn(): UserTurn {
    const last = this.#conversation.turns.at(-1);
    if (last?.role === "user") return last;
    const turn: UserTurn = { role: "user", results: [], parts: [] };
    this.#conversation.turns.push(turn);
    return turn;
  }

  /**
   * System text in the middle of a conversation keeps its place as a marked part of the user's turn: only the beginning
   * can be system text.
   */
  #readSystem(parts: TextPart[]): void {
    const { turns, system } = this.#conversation;
    if (turns.length === 0) return void system.push(...parts);
    if (parts.length === 0) return;
    this.#note("messages.system");
    const marked = parts.map((part) => ({ ...part, text: `<system>\n${part.text}\n</system>` }));
    this.#userTurn().parts.push(...marked);
  }

  #readAssistant(message: Record<string, unknown>, path: string): void {
    this.#close();
    if (isObject(message["audio"])) refuse(`${path}.audio`, "audio responses cannot be sent to this provider");
    this.#noteName(message);
    const { texts, images } = readContent(message, path);
    if (texts.length === 0 && typeof message["refusal"] === "string") {
      texts.push(...readTextParts(message["refusal"], `${path}.refusal`));
    }
    const calls = readCalls(message["tool_calls"], `${path}.tool_calls`, () =>
      this.#note("messages.tool_calls.function.arguments"),
    );
    const blocks = message["thinking_blocks"];
    const thinkingBlocks = Array.isArray(blocks) ? (blocks as unknown[]) : [];
    this.#conversation.turns.push({
      role: "assistant",
      texts: cachedAsWhole(texts, message),
      images,
      calls,
      thinkingBlocks,
    });
    if (calls.length > 0) this.#open = { calls, path, results: new Map() };
  }

  #readResult(message: Record<string, unknown>, path: string): void {
    const callId = message["tool_call_id"];
    const call = this.#open?.calls.find(({ id }) => id === callId);
    if (!this.#open || !call) {
      return refuse(`${path}.tool_call_id`, "names no tool call of the assistant message before it");
    }
    if (this.#open.results.has(call.id)) refuse(`${path}.tool_call_id`, "names a tool call that already has a result");
    const parts = readParts(message["content"], `${path}.content`);
    const cacheControl = message["cache_control"];
    this.#open.results.set(call.id, {
      callId: call.id,
      name: call.name,
      parts,
      ...(cacheControl ? { cacheControl } : {}),
    });
    this.#userTurn();
  }

  /** Stores the results of the last calls; refuses the request if any is missing. */
  #close(): void {
    const open = this.#open;
    if (!open) return;
    const missing = open.calls.filter(({ id }) => !open.results.has(id)).map(({ id }) => id);
    if (missing.length > 0) {
      refuse(
        `${open.path}.tool_calls`,
        `there is no tool message for ${missing.join(", ")}: every call needs its result`,
      );
    }
    this.#userTurn().results = open.calls.flatMap(({ id }) => open.results.get(id) ?? []);
    this.#open = undefined;
  }

  #noteName(message: Record<string, unknown>): void {
    if (typeof message["name"] === "string") this.#note("messages.name");
  }

  #note(name: string): void {
    const { adjusted } = this.#conversation;
    if (!adjusted.includes(name)) adjusted.push(name);
  }
}

/** Images are beside the content, as in OpenRouter's form, or within it. */
function readContent(message: Record<string, unknown>, path: string): { texts: TextPart[]; images: ImagePart[] } {
  const content = readParts(message["content"], `${path}.content`);
  const beside = readParts(message["images"], `${path}.images`);
  const other = beside.find(({ type }) => type !== "image");
  if (other !== undefined) return refuse(`${path}.images`, "must be a list of image_url parts");
  return {
    texts: content.flatMap((part) =>
      part.type === "text" ? [part] : part.type === "image" ? [] : refuse(part.path, "must be text or an image"),
    ),
    images: [...content, ...beside].filter((part) => part.type === "image"),
  };
}

/**
 * @throws ServiceError for images that a model generated, if the provider accepts no assistant images: the next turn is
 * probably about them
 */
export function refuseImages({ images: [image] }: AssistantTurn, provider: string): void {
  if (image !== undefined) {
    refuse(image.path, `${provider} does not accept images in assistant messages: send it as a part of a user message`);
  }
}

function readCalls(calls: unknown, path: string, onRepaired: () => void): Call[] {
  if (calls === null || calls === undefined) return [];
  if (!Array.isArray(calls)) return refuse(path, "must be a list");
  const read = (calls as unknown[]).map((call, i) => readCall(call, `${path}.${i}`, onRepaired));
  if (new Set(read.map(({ id }) => id)).size < read.length) refuse(path, "must have ids that differ");
  return read;
}

function readCall(call: unknown, path: string, onRepaired: () => void): Call {
  const called = isObject(call) ? call["function"] : undefined;
  if (!isObject(call) || !isObject(called)) return refuse(path, "must be a call of a function");
  const { id } = call;
  const { name } = called;
  if (typeof id !== "string" || id === "") return refuse(`${path}.id`, "must be text");
  if (typeof name !== "string" || name === "") return refuse(`${path}.function.name`, "must be text");
  const read = readArguments(called["arguments"], `${path}.function.arguments`, onRepaired);
  return { id, name, arguments: read, source: call };
}

/** Completes arguments that were truncated by a token bound: the call has a result, so the conversation continues. */
function readArguments(text: unknown, path: string, onRepaired: () => void): Record<string, unknown> {
  if (text === undefined || text === null || (typeof text === "string" && text.trim() === "")) return {};
  const parsed = typeof text === "string" ? parseJsonText(text) : { ok: true as const, value: text };
  if (parsed.ok && exceedsShape(parsed.value, filterLimits.spanDepth, domainLimits.spanNodes))
    return refuse(path, "nests too deep");
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  if (parsed.ok || typeof text !== "string") return refuse(path, "must be the text of a JSON object");
  onRepaired();
  return completeJson(text);
}

/** `cache_control` of a message applies to its last part. */
function cachedAsWhole<T extends Part>(parts: T[], message: Record<string, unknown>): T[] {
  const cacheControl = message["cache_control"];
  const last = parts.at(-1);
  return cacheControl && last ? [...parts.slice(0, -1), { ...last, cacheControl }] : parts;
}

function holdsSomething(turn: Turn): boolean {
  if (turn.role === "user") return turn.results.length > 0 || turn.parts.length > 0;
  return turn.texts.length > 0 || turn.images.length > 0 || turn.calls.length > 0;
}

/** Moves the positions of thinking blocks behind the content of the preceding turn. */
function shifted(blocks: readonly unknown[], { texts, calls }: AssistantTurn): unknown[] {
  const chars = texts.reduce((sum, { text }) => sum + text.length, 0);
  return blocks.map((block) => {
    const { text, calls: called } = placeOf(block);
    return isObject(block) ? { ...block, after: { text: chars + text, calls: calls.length + called } } : block;
  });
}

/** Merges neighbouring turns of one role. Two assistant turns are neighbours only if the first has no calls. */
function merged(turns: Turn[]): Turn[] {
  const result: Turn[] = [];
  for (const turn of turns) {
    const last = result.at(-1);
    if (last?.role === "user" && turn.role === "user") {
      last.results.push(...turn.results);
      last.parts.push(...turn.parts);
    } else if (last?.role === "assistant" && turn.role === "assistant") {
      last.thinkingBlocks.push(...shifted(turn.thinkingBlocks, last));
      last.texts.push(...turn.texts);
      last.images.push(...turn.images);
      last.calls.push(...turn.calls);
    } else result.push(turn);
  }
  return result;
}
