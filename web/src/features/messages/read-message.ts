import { isRecord } from "../../lib/exact-json.ts";
import type { DisplayMessage, DisplayPart, Tone } from "./display-part.ts";
import { arrayIn, firstText, jsonIn, recordIn, textIn } from "./members.ts";
import { answerAudio } from "./read-media-block.ts";
import { plainText, readPart, readParts, sourcesOf } from "./read-part.ts";
import { readCall, resultParts } from "./read-tool.ts";

type Raw = Record<string, unknown>;

/** Reads one message of a span, in any known format. */
export function readMessage(raw: unknown, place: number, defaultRole = "user"): DisplayMessage {
  if (!isRecord(raw)) {
    return { place, role: defaultRole, tone: toneOf(defaultRole), name: undefined, parts: readPart(raw) };
  }
  const message = unwrapped(raw);
  const role = roleOf(message, defaultRole);
  const tone = toneOf(role);
  const parts =
    tone === "tool" ? toolParts(message) : [...thoughtsOf(message), ...contentOf(message), ...callsOf(message)];
  return { place, role, tone, name: firstText(message, tone === "tool" ? "author" : "name"), parts };
}

/** Whether a value is a message or a list of messages. */
export function containsMessages(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && (value as unknown[]).every(isMessage);
  return isMessage(value);
}

function isMessage(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (typeof value["role"] === "string") return true;
  return value["lc"] === 1 && isRecord(value["kwargs"]);
}

const tones: ReadonlyMap<string, Tone> = new Map<string, Tone>([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["human", "user"],
  ["assistant", "assistant"],
  ["model", "assistant"],
  ["ai", "assistant"],
  ["tool", "tool"],
  ["function", "tool"],
]);

const toneOf = (role: string): Tone => tones.get(role.toLowerCase()) ?? "other";

/** LangChain's serialisation: {"lc": 1, "id": [..., "HumanMessage"], "kwargs": {...}} */
function unwrapped(raw: Raw): Raw {
  const kwargs = raw["lc"] === 1 ? recordIn(raw, "kwargs") : undefined;
  if (kwargs === undefined) return raw;
  const className = arrayIn(raw, "id").at(-1);
  const role = /^(human|ai|system|tool|function)message/i.exec(typeof className === "string" ? className : "")?.[1];
  return role === undefined ? kwargs : { role: role.toLowerCase(), ...kwargs };
}

function roleOf(message: Raw, defaultRole: string): string {
  const role = firstText(message, "role");
  if (role !== undefined) return role;
  const type = textIn(message, "type") ?? "";
  if (/(?:_call_output|tool_result)$/.test(type)) return "tool";
  if (/_call$|^reasoning$/.test(type)) return "assistant";
  return tones.has(type) ? type : defaultRole;
}

function toolParts(message: Raw): DisplayPart[] {
  const parts = message["content"] ?? message["output"] ?? message["parts"];
  // A message may contain results as blocks, each with its own id.
  const blocks = Array.isArray(parts) ? readParts(parts) : [];
  if (blocks.length > 0 && blocks.every(({ kind }) => kind === "tool-result")) return blocks;
  return [
    {
      kind: "tool-result",
      id: firstText(message, "tool_call_id", "toolCallId", "tool_use_id", "call_id"),
      name: firstText(message, "name", "tool_name"),
      parts: resultParts(parts, readParts),
      isError: message["is_error"] === true || message["status"] === "error",
    },
  ];
}

function thoughtsOf(message: Raw): DisplayPart[] {
  const text =
    firstText(message, "reasoning_content", "reasoning", "thinking") ?? plainText(recordIn(message, "reasoning"));
  if (text !== "") return [{ kind: "reasoning", text }];
  const details = plainText(arrayIn(message, "reasoning_details"));
  const isHidden = arrayIn(message, "reasoning_details").length > 0;
  return details !== "" || isHidden ? [{ kind: "reasoning", text: details }] : [];
}

function contentOf(message: Raw): DisplayPart[] {
  const isItem =
    !("role" in message) && typeof message["type"] === "string" && !tones.has(textIn(message, "type") ?? "");
  const given = isItem ? message : (message["parts"] ?? message["content"]);
  const parts = readParts(given);
  const refusal = firstText(message, "refusal");
  const audio = recordIn(message, "audio");
  const images = arrayIn(message, "images").flatMap(readPart);
  return [
    ...withSources(parts, message),
    ...(refusal === undefined ? [] : [{ kind: "refusal", text: refusal } as const]),
    ...(audio === undefined ? [] : answerAudio(audio)),
    ...images,
  ];
}

/** If a message's content is a text, its annotations are a separate member. */
function withSources(parts: DisplayPart[], message: Raw): DisplayPart[] {
  const sources = sourcesOf([...arrayIn(message, "annotations"), ...arrayIn(message, "citations")]);
  const last = parts.findLastIndex(({ kind }) => kind === "text");
  if (sources.length === 0 || last === -1) return parts;
  return parts.map((part, at) => (at === last && part.kind === "text" ? { ...part, sources } : part));
}

function callsOf(message: Raw): DisplayPart[] {
  const legacy = recordIn(message, "function_call");
  const calls = [...arrayIn(message, "tool_calls"), ...arrayIn(message, "toolCalls")].filter(isRecord).map(readCall);
  // Messages of Anthropic and LangChain may contain a call both as a block and as a separate member.
  const inContent = new Set(readIds(message["content"] ?? message["parts"]));
  const others = calls.filter(({ id }) => id === undefined || !inContent.has(id));
  return legacy === undefined ? others : [...others, readCall(legacy)];
}

function readIds(content: unknown): string[] {
  return readParts(content).flatMap((part) => (part.kind === "tool-call" && part.id !== undefined ? [part.id] : []));
}

/** The messages in a JSON text; undefined for any other text. */
export function messagesInText(text: string): unknown[] | undefined {
  const value = jsonIn(text);
  if (!containsMessages(value)) return undefined;
  return Array.isArray(value) ? (value as unknown[]) : [value];
}
