import { lookUp } from "../../lib/look-up.ts";
import { audioSeconds } from "../../lib/audio-duration.ts";
import { isObject } from "../../lib/json.ts";

/**
 * The token cost of a part of a message beside its text, and the payload: the media itself, which is not counted as
 * text.
 */
export type MediaCeiling = { tokens: number; audioTokens: number; payload: string };

/**
 * The most that an image costs by its `detail`. gpt-4o-mini counts 33 times as many, at a correspondingly lower price.
 */
const imageTokens = { low: 3_000, usual: 5_000, original: 12_000 };
const countingMore: readonly [RegExp, number] = [/gpt-4o-mini/, 50_000];

/** Documents: one token per byte. A PDF is read as pages: providers accept a hundred or so, with 3,000 tokens each. */
const pdfTokens = 300_000;
/** Media that is referenced and not sent, of unknown size. */
const linkedTokens = 50_000;
const videoTokens = 300_000;

/** Gemini's rate, the highest. */
const audioTokensPerSecond = 32;
/** No speech is recorded at a lower bit rate. */
const audioBytesPerSecond = 1_000;

type Reader = (part: Record<string, unknown>, model: string) => MediaCeiling;

/** By the type of the part in Chat Completions, Responses and Messages. */
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

/** Undefined for a part with only text. */
export function mediaCeiling(part: Record<string, unknown>, model: string): MediaCeiling | undefined {
  const { type } = part;
  return typeof type === "string" ? lookUp(readers, type)?.(part, model) : undefined;
}

/** The longest possible duration of a recording in seconds: from its file format, else from its size. */
export function playingSeconds(bytes: Buffer): number {
  return audioSeconds(bytes) ?? bytes.length / audioBytesPerSecond;
}

/** Tokens of audio input. */
export function inputAudioTokens(seconds: number): number {
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
  // Text parts are already counted as text.
  if (type === "text" || content !== undefined) return plain(0, undefined);
  return document(data);
}

function audio(data: unknown): MediaCeiling {
  if (typeof data !== "string") return plain(0, data);
  const audioTokens = inputAudioTokens(playingSeconds(Buffer.from(data, "base64")));
  return { ...plain(0, data), audioTokens };
}

function plain(tokens: number, payload: unknown): MediaCeiling {
  return { tokens, audioTokens: 0, payload: typeof payload === "string" ? payload : "" };
}
