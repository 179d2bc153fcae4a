import { lookUp } from "../../lib/look-up.ts";
import { audioSeconds } from "../../lib/audio-duration.ts";
import { isObject } from "../../lib/json.ts";

/** Tokens that a part of a message may cost beside its text, and the text that is not read as such: the media itself. */
export type MediaCeiling = { tokens: number; audioTokens: number; payload: string };

/** The most that an image costs by its `detail`. gpt-4o-mini counts 33 times what others do, and makes up for it in price. */
const imageTokens = { low: 3_000, usual: 5_000, original: 12_000 };
const countingMore: readonly [RegExp, number] = [/gpt-4o-mini/, 50_000];

/** Documents: a token a byte; a PDF is read as pages, of which providers take a hundred or so with 3,000 tokens each. */
const pdfTokens = 300_000;
/** What is named and not sent, and so of unknown size. */
const linkedTokens = 50_000;
const videoTokens = 300_000;

/** Gemini counts most. */
const audioTokensPerSecond = 32;
/** Nobody records speech in less. */
const audioBytesPerSecond = 1_000;

type Reader = (part: Record<string, unknown>, model: string) => MediaCeiling;

/** By the type of the part, of Chat Completions, of Responses and of Messages. */
const readers: Readonly<Record<string, Reader>> = {
  image_url: (part, model) => image(part, model),
  input_image: (part, model) => image(part, model),
  file: ({ file }) => document(isObject(file) ? file["file_data"] : undefined),
  input_file: ({ file_data }) => document(file_data),
  input_audio: ({ input_audio }) => audio(isObject(input_audio) ? input_audio["data"] : undefined),
  image: ({ source }) => plain(imageTokens.usual, isObject(source) ? (source["data"] ?? source["url"]) : undefined),
  document: ({ source }) => sourceDocument(isObject(source) ? source : {}),
  video_url: ({ video_url }) => plain(videoTokens, isObject(video_url) ? video_url["url"] : video_url),
};

/** Undefined for a part that is all text. */
export function mediaCeiling(part: Record<string, unknown>, model: string): MediaCeiling | undefined {
  const { type } = part;
  return typeof type === "string" ? lookUp(readers, type)?.(part, model) : undefined;
}

/** How long a recording may play, in seconds: as its file says, else by its size. */
export function playingSeconds(bytes: Buffer): number {
  return audioSeconds(bytes) ?? bytes.length / audioBytesPerSecond;
}

/** Tokens of speech that is heard. */
export function heardTokens(seconds: number): number {
  return Math.ceil(seconds * audioTokensPerSecond);
}

function image(part: Record<string, unknown>, model: string): MediaCeiling {
  const { image_url: named } = part;
  const detail = isObject(named) ? named["detail"] : part["detail"];
  const [more, tokens] = countingMore;
  if (more.test(model)) return plain(tokens, isObject(named) ? named["url"] : named);
  const kind = detail === "low" || detail === "original" ? detail : "usual";
  return plain(imageTokens[kind], isObject(named) ? named["url"] : named);
}

function document(data: unknown): MediaCeiling {
  if (typeof data !== "string" || /^https?:/i.test(data)) return plain(linkedTokens, data);
  const isText = /^data:text\//i.test(data);
  return plain(isText ? data.length : Math.min(data.length, pdfTokens), data);
}

function sourceDocument(source: Record<string, unknown>): MediaCeiling {
  const { type, data, content } = source;
  // Text, and parts of it, is read as it stands.
  if (type === "text" || content !== undefined) return plain(0, undefined);
  return document(data);
}

function audio(data: unknown): MediaCeiling {
  if (typeof data !== "string") return plain(0, data);
  const audioTokens = heardTokens(playingSeconds(Buffer.from(data, "base64")));
  return { ...plain(0, data), audioTokens };
}

function plain(tokens: number, payload: unknown): MediaCeiling {
  return { tokens, audioTokens: 0, payload: typeof payload === "string" ? payload : "" };
}
