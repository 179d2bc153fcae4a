import { ingestLimits } from "../limits.ts";

/**
 * One image, recording or document within the JSON text of a span: a base64 data URI, or bare base64 with a
 * recognizable type. `start` and `end` are byte offsets.
 */
export type FoundMedia = { start: number; end: number; mediaType: string };

/**
 * Finds media of at least `minChars` characters in JSON text. Base64 needs no escaping, except for its line breaks, so
 * one search finds it at any depth, also in JSON within a JSON string. Ordinary text of that length contains spaces and
 * quotes, so checking a few bytes in each stride is enough to skip it.
 */
export function findMedia(text: Buffer, minChars: number = ingestLimits.mediaChars): FoundMedia[] {
  const found: FoundMedia[] = [];
  const stride = minChars >> 1;
  for (let probe = stride; probe < text.length;) {
    const run = runAround(text, probe, found.at(-1)?.end ?? 0);
    if (run === undefined || lengthOf(run) < minChars) {
      probe += stride;
      continue;
    }
    const base64 = base64In(text, run);
    const media = lengthOf(base64) < minChars ? undefined : mediaOf(text, base64);
    if (media !== undefined) found.push(media);
    probe = run.end + stride;
  }
  return found;
}

type Run = { start: number; end: number };
const lengthOf = ({ start, end }: Run): number => end - start;

// Letters, digits, `+`, `/`, `-` and `_` of the URL-safe alphabet, and the backslash of line breaks.
const isBase64 = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_\\")
  isBase64[char.charCodeAt(0)] = 1;
const padding = 0x3d;

const glanceBytes = 64;

/** The run of base64 and backslashes around the byte at `probe`; undefined if there is none. */
function runAround(text: Buffer, probe: number, from: number): Run | undefined {
  for (let at = probe; at < Math.min(probe + glanceBytes, text.length); at += 1) if (!isIn(text, at)) return undefined;
  let start = probe;
  while (start > from && isIn(text, start - 1)) start -= 1;
  let end = probe;
  while (end < text.length && isIn(text, end)) end += 1;
  for (let pad = 0; pad < 2 && text[end] === padding; pad += 1) end += 1;
  return { start, end };
}

const isIn = (text: Buffer, at: number): boolean => isBase64[text[at] ?? 0] === 1;

const line = /[\w+/-]*/y;
/** As JSON escapes it, at any depth of nested strings. */
const lineBreak = /(?:\\+r)?\\+n/y;
const padded = /={0,2}(?:(?:\\+r)?\\+n(?=\\*"))?/y;
const paddedBytes = 128;

/** The base64 at the beginning of a run, including a final line break that ends the string. */
function base64In(text: Buffer, { start, end }: Run): Run {
  const close = start + endOfLines(text.toString("latin1", start, end));
  return { start, end: close + endOf(padded, text.toString("latin1", close, close + paddedBytes), 0) };
}

/**
 * Returns the end of base64 with lines of equal length, as MIME writes it. Only the first and the last line may be
 * shorter.
 */
function endOfLines(run: string): number {
  let end = endOf(line, run, 0);
  let length = end;
  for (let isFirst = true; ; isFirst = false) {
    const begin = endOf(lineBreak, run, end);
    const close = endOf(line, run, begin);
    const chars = close - begin;
    if (begin === end || chars === 0 || (isFirst ? chars < length : chars > length)) return end;
    end = close;
    if (chars < length) return end;
    length = chars;
  }
}

/** The end of a sticky pattern's match at a position, or the position itself. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

const uriEnd = /data:([\w.+-]+\/[\w.+-]+)((?:;[\w.+-]+=[\w.+-]+)*);base64,$/;
const uriHeadBytes = 256;
const sideBytes = 300;

/** Declarations of the type of bare base64: in parts of Anthropic, Gemini, Bedrock and OpenAI. */
const declaredType = /\\*"(?:media_?type|mime_?type)\\*"\s*:\s*\\*"([\w.+-]+\/[\w.+-]+)\\*"/i;
const declaredFormat = /\\*"format\\*"\s*:\s*\\*"(wav|mp3|flac|opus|ogg|pcm16|png|jpeg|jpg|webp|gif|mp4|webm|pdf)\\*"/i;

function mediaOf(text: Buffer, { start, end }: Run): FoundMedia | undefined {
  const before = text.toString("latin1", Math.max(0, start - uriHeadBytes), start);
  const uri = uriEnd.exec(before);
  if (uri !== null) return { start: start - uri[0].length, end, mediaType: (uri[1] ?? "").toLowerCase() };
  // Bare base64 must be a whole string; a part of a longer text is not media.
  if (!before.endsWith('"') || !/^\\*"/.test(text.toString("latin1", end, end + 16))) return undefined;
  const mediaType =
    declaredIn(text, start, end) ?? mediaTypeOfBase64(text.toString("latin1", start, start + headBytes));
  return mediaType === undefined ? undefined : { start, end, mediaType };
}

/** The nearest declaration within the same object, that is, without a brace in between. */
function declaredIn(text: Buffer, start: number, end: number): string | undefined {
  const before = text.toString("latin1", Math.max(0, start - sideBytes), start);
  const after = text.toString("latin1", end, end + sideBytes);
  const [inside = ""] = before.split(/[{}]/).slice(-1);
  const [behind = ""] = after.split(/[{}]/);
  for (const side of [inside, behind]) {
    const type = declaredType.exec(side)?.[1];
    if (type !== undefined) return type.toLowerCase();
    const format = declaredFormat.exec(side)?.[1]?.toLowerCase();
    if (format !== undefined) return typeOfFormat[format] ?? "application/octet-stream";
  }
  return undefined;
}

const typeOfFormat: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  flac: "audio/flac",
  opus: "audio/ogg",
  ogg: "audio/ogg",
  pcm16: "audio/pcm",
  png: "image/png",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  mp4: "video/mp4",
  webm: "video/webm",
  pdf: "application/pdf",
};

/** The first bytes of a file, in base64. */
const signatures: ReadonlyArray<readonly [pattern: RegExp, mediaType: string]> = [
  [/^iVBORw0KGg/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{5,8}(?:V0VCU|XRUJQ|dFQlA)/, "image/webp"],
  [/^UklGR/, "audio/wav"],
  [/^JVBERi/, "application/pdf"],
  [/^SUQz|^\/\/[uvsM]/, "audio/mpeg"],
  [/^T2dnUw/, "audio/ogg"],
  [/^ZkxhQw/, "audio/flac"],
  [/^GkXfow/, "video/webm"],
  [/^AAAA.{2}Z0eX|^.{4,6}ZnR5c/, "video/mp4"],
];

const headBytes = 64;

/** The media type of a base64 file, recognized by its first bytes. */
export function mediaTypeOfBase64(text: string): string | undefined {
  const head = text
    .replaceAll(/\\+[rn]/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  return signatures.find(([pattern]) => pattern.test(head))?.[1];
}
