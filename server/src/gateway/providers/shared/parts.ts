import { isObject } from "../../../lib/json.ts";
import { asOpenaiPart } from "./native-parts.ts";
import { type Media, readBase64, readMediaUrl } from "./media.ts";
import { refuse } from "./refuse.ts";

/** The parts of a message's content, normalized. `cacheControl` ends a prompt cache prefix after the part. */
export type TextPart = { type: "text"; text: string; cacheControl?: unknown };
/** `source`: the part as sent, with data that providers attach to generated images. */
export type ImagePart = {
  type: "image";
  media: Media;
  path: string;
  cacheControl?: unknown;
  source: Record<string, unknown>;
};
/**
 * `mediaType`: the type of a link's target, if the caller states it. `native`: members of Anthropic's own part besides
 * its source.
 */
export type DocumentPart = {
  type: "document";
  media: Media;
  name?: string;
  mediaType?: string;
  native?: Record<string, unknown>;
  path: string;
  cacheControl?: unknown;
};
/** `format` as OpenAI names it: wav, mp3. */
export type AudioPart = { type: "audio"; base64: string; format: string; path: string; cacheControl?: unknown };
export type Part = TextPart | ImagePart | DocumentPart | AudioPart;

/**
 * Reads content as parts. Blank text is omitted: Anthropic, Bedrock and Gemini refuse it, and it has no meaning.
 * @param path the content's path, for error messages: no other part is ever dropped
 */
export function readParts(content: unknown, path: string): Part[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return textPart(content);
  if (!Array.isArray(content)) return refuse(path, "must be text or a list of parts");
  return (content as unknown[]).flatMap((part, i) => readPart(part, `${path}.${i}`));
}

/** Reads parts that must be text, such as those of system messages. */
export function readTextParts(content: unknown, path: string): TextPart[] {
  return readParts(content, path).map((part) => (part.type === "text" ? part : refuse(path, "must be text")));
}

/** The joined text of the parts; `undefined` if any of them is not text. */
export function textOf(parts: readonly Part[]): string | undefined {
  const texts = parts.map((part) => (part.type === "text" ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join("\n");
}

function textPart(text: string, cacheControl?: unknown): TextPart[] {
  if (text.trim() === "") return [];
  return [{ type: "text", text, ...(cacheControl ? { cacheControl } : {}) }];
}

function readPart(part: unknown, path: string): Part[] {
  if (typeof part === "string") return textPart(part);
  if (!isObject(part)) return refuse(path, "must be an object");
  const cacheControl = part["cache_control"];
  const cache = cacheControl ? { cacheControl } : {};
  switch (part["type"]) {
    case "text":
      return textPart(textMember(part, "text", path), cacheControl);
    case "refusal":
      return textPart(textMember(part, "refusal", path), cacheControl);
    case "image_url":
      return [
        { type: "image", media: readImage(part["image_url"], `${path}.image_url`), path, ...cache, source: part },
      ];
    case "file":
      return [{ ...readFile(part["file"], `${path}.file`, part), ...cache }];
    case "input_audio":
      return [{ ...readAudio(part["input_audio"], `${path}.input_audio`), ...cache }];
    default:
      return readNative(part, path);
  }
}

/** Reads parts of other wire formats. Members of Anthropic's documents besides their source are kept for Anthropic. */
function readNative(part: Record<string, unknown>, path: string): Part[] {
  const known = asOpenaiPart(part);
  if (known === undefined) {
    const type = JSON.stringify(part["type"]) ?? "a part without type";
    return refuse(`${path}.type`, `${type} is not a supported part: send text, image_url, input_audio or file`);
  }
  const { context, citations } = part;
  const native = { ...(context ? { context } : {}), ...(citations ? { citations } : {}) };
  return readPart(known, path).map((read) =>
    read.type === "document" && Object.keys(native).length > 0 ? { ...read, native } : read,
  );
}

function textMember(part: Record<string, unknown>, name: string, path: string): string {
  const text = part[name];
  return typeof text === "string" ? text : refuse(`${path}.${name}`, "must be text");
}

function readImage(image: unknown, path: string): Media {
  const url = isObject(image) ? image["url"] : image;
  if (isObject(image) && typeof image["file_id"] === "string") return { kind: "file", fileId: image["file_id"] };
  return typeof url === "string" ? readMediaUrl(url, path) : refuse(path, "must have a url");
}

function readFile(file: unknown, path: string, source: Record<string, unknown>): DocumentPart | ImagePart {
  if (!isObject(file)) return refuse(path, "must be an object");
  const { filename, format } = file;
  const name = typeof filename === "string" ? { name: filename } : {};
  const type = typeof format === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(format) ? { mediaType: format } : {};
  const data = file["file_data"];
  if (typeof data === "string") {
    const media = /^(?:data|https?|gs):/i.test(data)
      ? readMediaUrl(data, `${path}.file_data`)
      : readBase64(data, typeOfName(name.name), `${path}.file_data`);
    if (media.kind === "bytes" && media.mediaType.startsWith("image/")) return { type: "image", media, path, source };
    return { type: "document", media, path, ...name, ...type };
  }
  if (typeof file["file_id"] === "string") {
    return { type: "document", media: { kind: "file", fileId: file["file_id"] }, path, ...name, ...type };
  }
  return refuse(path, "must have file_data or file_id");
}

function typeOfName(name = ""): string {
  return name.toLowerCase().endsWith(".pdf") ? "application/pdf" : "text/plain";
}

function readAudio(audio: unknown, path: string): AudioPart {
  if (!isObject(audio)) return refuse(path, "must be an object");
  const { data, format } = audio;
  if (typeof data !== "string" || data === "") return refuse(`${path}.data`, "must be base64 text");
  if (typeof format !== "string") return refuse(`${path}.format`, "must be text");
  return { type: "audio", base64: data, format, path };
}
