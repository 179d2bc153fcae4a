import type { DisplayPart } from "./display-part.ts";
import { readMedia, type MediaClaim } from "./media.ts";
import { firstText, recordIn, textIn } from "./members.ts";

type Block = Record<string, unknown>;

/**
 * Reads images, recordings, videos and files in the forms of providers and SDKs; undefined if the block is none of
 * these.
 */
export function readMediaBlock(block: Block, type: string): DisplayPart[] | undefined {
  if (/^(?:image_url|image-url|input_image|image|image_file)$/.test(type)) return [imagePart(block)];
  if (/^(?:input_audio|audio|output_audio|audio_url)$/.test(type)) return [audioPart(block)];
  if (/^(?:video_url|input_video|video)$/.test(type))
    return [mediaPart(block["video_url"] ?? block["source"] ?? block, "video")];
  if (/^(?:file|input_file|document|container_upload)$/.test(type)) return [filePart(block)];
  if (/^(?:blob|binary|media|uri)$/.test(type)) return [modalPart(block)];
  return type === "" ? untypedMedia(block) : undefined;
}

/** Bedrock's and Gemini's forms. */
function untypedMedia(block: Block): DisplayPart[] | undefined {
  for (const shown of ["image", "audio", "video"] as const) {
    const found = recordIn(block, shown);
    if (found !== undefined && "source" in found) return [mediaPart(found, shown)];
  }
  const document = recordIn(block, "document");
  if (document !== undefined) return [filePart(document)];
  const data =
    recordIn(block, "inlineData") ??
    recordIn(block, "inline_data") ??
    recordIn(block, "fileData") ??
    recordIn(block, "file_data");
  return data === undefined ? undefined : [modalPart(data)];
}

function imagePart(block: Block): DisplayPart {
  const source = block["image_url"] ?? block["image"] ?? block["source"] ?? block["url"];
  const file = firstText(block, "file_id") ?? firstText(recordIn(block, "image_file") ?? {}, "file_id");
  if (source === undefined && file !== undefined) return { kind: "file", name: file, media: undefined };
  return mediaPart(source ?? block, "image", mediaTypeOf(block));
}

function audioPart(block: Block): DisplayPart {
  const source = block["input_audio"] ?? block["audio"] ?? block["audio_url"] ?? block["source"] ?? block;
  const part = mediaPart(source, "audio", mediaTypeOf(block));
  const transcript = textIn(block, "transcript");
  return part.kind === "media" && transcript !== undefined ? { ...part, caption: transcript } : part;
}

/** The audio of an assistant message, which is sent beside its content. */
export function answerAudio(audio: Block): DisplayPart[] {
  const transcript = textIn(audio, "transcript");
  if (audio["data"] === undefined && transcript !== undefined) return [{ kind: "text", text: transcript }];
  const media = readMedia({ shown: "audio", data: audio["data"] });
  return [{ kind: "media", media, caption: transcript }];
}

/** Decides by the media type or modality given beside the data. */
function modalPart(block: Block): DisplayPart {
  const mediaType = mediaTypeOf(block);
  const stated = textIn(block, "modality") ?? mediaType?.split("/", 1)[0];
  const shown = stated === "image" || stated === "audio" || stated === "video" ? stated : "file";
  if (shown === "file") return filePart(block);
  return mediaPart(block, shown, mediaType);
}

function filePart(block: Block): DisplayPart {
  const inner = recordIn(block, "file") ?? block;
  const source = inner["source"] ?? inner;
  const text = textIn(recordIn({ source }, "source") ?? {}, "type") === "text";
  const data = firstText(inner, "file_data", "fileData", "file_url", "fileUrl") ?? dataOf(source);
  const name =
    firstText(inner, "filename", "name", "title", "file_id", "fileId") ??
    firstText(block, "filename", "title") ??
    "file";
  if (text && typeof data === "string") return { kind: "value", label: name, value: data };
  const mediaType = mediaTypeOf(inner) ?? mediaTypeOf(recordIn({ source }, "source") ?? {});
  const media = data === undefined ? undefined : readMedia({ shown: "file", data, mediaType });
  return { kind: "file", name, media };
}

function mediaPart(source: unknown, shown: MediaClaim["shown"], beside?: string): DisplayPart {
  const inner = recordIn({ source }, "source") ?? {};
  const deeper = recordIn(inner, "source") ?? inner;
  const file = firstText(deeper, "file_id");
  const data = dataOf(source);
  if (data === undefined && file !== undefined) return { kind: "file", name: file, media: undefined };
  const mediaType = mediaTypeOf(deeper) ?? mediaTypeOf(inner) ?? beside;
  return { kind: "media", media: readMedia({ shown, data, mediaType }), caption: undefined };
}

const dataMembers = ["data", "url", "uri", "bytes", "base64", "b64_json", "fileUri", "file_uri", "content"];

/** The value itself if it is text, or the member with the data or URL; Bedrock nests it one level deeper. */
function dataOf(source: unknown): unknown {
  if (typeof source === "string") return source;
  const block = recordIn({ source }, "source");
  if (block === undefined) return undefined;
  return firstText(block, ...dataMembers) ?? firstText(recordIn(block, "source") ?? {}, ...dataMembers);
}

const mediaTypeOf = (block: Block): string | undefined =>
  firstText(block, "media_type", "mediaType", "mime_type", "mimeType", "contentType");
