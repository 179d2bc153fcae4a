import { isUtf8 } from "node:buffer";
import { isObject } from "../../lib/json.ts";

/**
 * Recognizes events of one stream that differ only in the text of their content, which most do: the bytes before and
 * after the text are learnt from one event, and later ones need no decoding or parsing. Such an event contains nothing
 * except that text.
 */
export type ChunkTemplate = {
  /** The index of the choice that the text belongs to. */
  readonly index: number;
  /** The position of the text in the event found last, and its length in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly chars: number;
  /** Whether an event like the learnt one begins at `at`. It ends at `end()`. */
  finds(bytes: Buffer, at: number): boolean;
  end(): number;
  /** Learns from a parsed event. @param raw the event as received, whose data is `data` */
  learn(raw: Buffer, data: string, chunk: Record<string, unknown>): void;
};

/** Bounds the cost of streams that alternate between shapes. */
const maxLessons = 8;

const [quote, backslash, firstPrintable] = [0x22, 0x5c, 0x20];

export function createChunkTemplate(): ChunkTemplate {
  return new Template();
}

class Template implements ChunkTemplate {
  index = 0;
  from = 0;
  to = 0;
  chars = 0;
  #before: Buffer | undefined;
  /** Begins with the quote that ends the text. */
  #after: Buffer = Buffer.alloc(0);
  #lessons = 0;

  finds(bytes: Buffer, at: number): boolean {
    const before = this.#before;
    if (before === undefined || !holdsAt(bytes, at, before)) return false;
    this.from = at + before.length;
    return this.#readText(bytes) && holdsAt(bytes, this.to, this.#after);
  }

  end(): number {
    return this.to + this.#after.length;
  }

  learn(raw: Buffer, data: string, chunk: Record<string, unknown>): void {
    const text = this.#lessons < maxLessons ? textAlone(chunk) : undefined;
    if (text === undefined) return;
    this.#lessons += 1;
    const start = startOfContent(data);
    const end = start + text.length;
    if (start === -1 || data.slice(start, end) !== text || data[end] !== '"') return;
    const head = data.slice(0, start);
    const tail = data.slice(end);
    // Proves that the text between the two is exactly the content.
    const probe = `${text.length} ${data.length}`;
    const probed: unknown = JSON.parse(head + probe + tail);
    if (!isObject(probed) || textAlone(probed) !== probe) return;
    const field = raw.toString("latin1", 0, 6) === "data: " ? "data: " : "data:";
    const [before, after] = [bytesOf(field + head), bytesOf(`${tail}\n\n`)];
    if (!raw.equals(Buffer.concat([before, Buffer.from(text), after]))) return;
    [this.#before, this.#after, this.index] = [before, after, indexOf(chunk)];
  }

  /** Reads the text up to its quote. False if it contains a control character, an escape or invalid UTF-8. */
  #readText(bytes: Buffer): boolean {
    let isAscii = true;
    let chars = 0;
    let at = this.from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === quote) break;
      if (byte < firstPrintable || byte === backslash) return false;
      if (byte < 0x80) chars += 1;
      else {
        isAscii = false;
        // Counts characters by their first bytes; a character of four bytes is two UTF-16 units.
        if ((byte & 0xc0) !== 0x80) chars += byte >= 0xf0 ? 2 : 1;
      }
    }
    this.to = at;
    this.chars = chars;
    return at > this.from && (isAscii || isUtf8(bytes.subarray(this.from, at)));
  }
}

/** Uses separate memory: a pooled buffer would keep its whole pool alive as long as the stream. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** A plain loop: for so few bytes a native call takes longer. */
function holdsAt(bytes: Buffer, at: number, part: Buffer): boolean {
  if (bytes.length - at < part.length) return false;
  for (let i = 0; i < part.length; i += 1) if (bytes[at + i] !== part[i]) return false;
  return true;
}

/** The position of the text of the only member `content`; -1 if there is none or more than one. */
function startOfContent(data: string): number {
  for (const member of ['"content":"', '"content": "']) {
    const at = data.indexOf(member);
    if (at !== -1) return data.includes('"content"', at + 1) ? -1 : at + member.length;
  }
  return -1;
}

/** The content of a chunk with nothing else: one unfinished choice, without usage or error. */
function textAlone({ choices, usage, x_groq: groq, error }: Record<string, unknown>): string | undefined {
  if (hasContent(usage) || hasContent(groq) || hasContent(error)) return undefined;
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isObject(choice) || hasContent(choice["finish_reason"]) || !isObject(choice["delta"])) return undefined;
  const { content, role: _role, ...others } = choice["delta"];
  if (typeof content !== "string" || content === "" || Object.values(others).some(hasContent)) return undefined;
  return content;
}

function indexOf({ choices }: Record<string, unknown>): number {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(choice) && typeof choice["index"] === "number" ? choice["index"] : 0;
}

function hasContent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}
