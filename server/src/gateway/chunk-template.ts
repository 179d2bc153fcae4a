import { isObject } from "../lib/json.ts";

/**
 * Reads chunks of one stream that are alike but for the text of their content, which most are: what stands before and
 * after the text is learnt from one of them, and others need no parsing.
 */
export type ChunkTemplate = {
  /**
   * What parsing would give, where the chunk is like the one before; else undefined. The same object each time: its
   * content changes with the next chunk.
   */
  read(data: string): Record<string, unknown> | undefined;
  /** Learns from a chunk that was parsed. */
  learn(data: string, chunk: Record<string, unknown>): void;
};

/** What a JSON text may not hold as it is, or stands for something else. */
// eslint-disable-next-line no-control-regex
const notPlain = /["\\\u0000-\u001F]/;

/** Streams that alternate between shapes are not learnt over and over. */
const maxLessons = 8;

export function createChunkTemplate(): ChunkTemplate {
  let before = "";
  let after = "";
  let chunk: Record<string, unknown> | undefined;
  let delta: Record<string, unknown> = {};
  let lessons = 0;

  return {
    read(data) {
      if (chunk === undefined || data.length < before.length + after.length) return undefined;
      if (!data.startsWith(before) || !data.endsWith(after)) return undefined;
      const text = data.slice(before.length, data.length - after.length);
      if (notPlain.test(text)) return undefined;
      delta["content"] = text;
      return chunk;
    },
    learn(data, example) {
      const content = deltaOf(example)?.["content"];
      if (lessons >= maxLessons || typeof content !== "string" || content === "") return;
      lessons += 1;
      const start = startOfContent(data);
      const end = start + content.length;
      if (start === -1 || data.slice(start, end) !== content || data[end] !== '"') return;
      const head = data.slice(0, start);
      const tail = data.slice(end);
      // Proves that the text between the two is the content and nothing else.
      const probe = `${content.length} ${data.length}`;
      const probed: unknown = JSON.parse(head + probe + tail);
      const place = isObject(probed) ? deltaOf(probed) : undefined;
      if (!isObject(probed) || place?.["content"] !== probe) return;
      [before, after, chunk, delta] = [head, tail, probed, place];
    },
  };
}

/** Where the text of the only member `content` begins; -1 where there is none or more than one. */
function startOfContent(data: string): number {
  for (const member of ['"content":"', '"content": "']) {
    const at = data.indexOf(member);
    if (at !== -1) return data.includes('"content"', at + 1) ? -1 : at + member.length;
  }
  return -1;
}

function deltaOf(chunk: Record<string, unknown>): Record<string, unknown> | undefined {
  const { choices } = chunk;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) && isObject(first["delta"]) ? first["delta"] : undefined;
}
