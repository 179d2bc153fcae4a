import { type Call, refuseImages, type ToolResult, type Turn } from "../shared/conversation.ts";
import type { Media } from "../shared/media.ts";
import { type Part, type TextPart, textOf } from "../shared/parts.ts";
import { refuse } from "../shared/refuse.ts";
import { type ContentItem, contentInOrder } from "../shared/content-in-order.ts";
import { portableToolId } from "../shared/tool-ids.ts";

/** A content block of the Messages API. */
export type Block = Record<string, unknown>;

/** @param withThinking whether earlier thinking may be sent: only models that think accept it */
export function turnToMessage(turn: Turn, withThinking: boolean): { role: string; content: Block[] } {
  if (turn.role === "user") {
    return { role: "user", content: [...turn.results.map(resultBlock), ...turn.parts.map(partBlock)] };
  }
  refuseImages(turn, "Anthropic");
  const items = contentInOrder(turn, withThinking);
  return { role: "assistant", content: items.map(blockOf) };
}

function blockOf(item: ContentItem): Block {
  if (item.kind === "thinking") return item.block;
  return item.kind === "text" ? textBlock(item.part) : callBlock(item.call);
}

export function textBlock({ text, cacheControl }: TextPart): Block {
  return { type: "text", text, ...cached(cacheControl) };
}

export function cached(cacheControl: unknown): { cache_control?: unknown } {
  return cacheControl ? { cache_control: cacheControl } : {};
}

function callBlock({ id, name, arguments: input, source }: Call): Block {
  return { type: "tool_use", id: portableToolId(id), name, input, ...cached(source["cache_control"]) };
}

function resultBlock({ callId, parts, cacheControl }: ToolResult): Block {
  const isPlain = parts.every((part) => part.cacheControl === undefined);
  const text = isPlain && parts.length <= 1 ? textOf(parts) : undefined;
  const content = text ?? parts.map(partBlock);
  return {
    type: "tool_result",
    tool_use_id: portableToolId(callId),
    ...(content.length > 0 ? { content } : {}),
    ...cached(cacheControl),
  };
}

function partBlock(part: Part): Block {
  if (part.type === "text") return textBlock(part);
  if (part.type === "audio") return refuse(part.path, "audio cannot be sent to Anthropic");
  if (part.type === "image") {
    return { type: "image", source: imageSource(part.media, part.path), ...cached(part.cacheControl) };
  }
  return {
    type: "document",
    source: documentSource(part.media, part.path),
    ...(part.name === undefined ? {} : { title: part.name }),
    ...part.native,
    ...cached(part.cacheControl),
  };
}

function imageSource(media: Media, path: string): Block {
  if (media.kind === "url") return linkSource(media.url, path);
  if (media.kind === "file") return fileSource(media.fileId, path);
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(media.mediaType)) {
    return refuse(path, `${media.mediaType} is not an image type that Anthropic supports: send PNG, JPEG, GIF or WebP`);
  }
  return { type: "base64", media_type: media.mediaType, data: media.base64 };
}

const textTypes = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|csv|x-ndjson)|[\w./-]+\+(?:json|xml))/;

function documentSource(media: Media, path: string): Block {
  if (media.kind === "url") return linkSource(media.url, path);
  if (media.kind === "file") return fileSource(media.fileId, path);
  if (media.mediaType === "application/pdf") {
    return { type: "base64", media_type: media.mediaType, data: media.base64 };
  }
  // The API accepts text only as `text/plain`, whatever its media type.
  if (textTypes.test(media.mediaType)) {
    return { type: "text", media_type: "text/plain", data: Buffer.from(media.base64, "base64").toString("utf8") };
  }
  return refuse(path, `${media.mediaType} is not a document type that Anthropic supports: send PDF or text`);
}

function linkSource(url: string, path: string): Block {
  if (/^https?:/i.test(url)) return { type: "url", url };
  return refuse(path, "Anthropic cannot read Cloud Storage: send an https: URL, or the bytes as a data: URL");
}

/** References a file of Anthropic; it cannot see files of other providers. */
function fileSource(fileId: string, path: string): Block {
  if (fileId.startsWith("file_")) return { type: "file", file_id: fileId };
  return refuse(`${path}.file_id`, "is not the id of an Anthropic file: send file_data");
}
