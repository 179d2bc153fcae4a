import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import { type Call, refuseImages, type ToolResult, type Turn } from "../shared/conversation.ts";
import type { Media } from "../shared/media.ts";
import type { DocumentPart, Part, TextPart } from "../shared/parts.ts";
import { refuse } from "../shared/refuse.ts";
import { type ContentItem, contentInOrder } from "../shared/content-in-order.ts";
import { portableToolId } from "../shared/tool-ids.ts";

/** A content block of the Converse API: an object with one member, named after its kind. */
export type Block = Record<string, unknown>;

/** Writes the turns of one request. Document names are unique, as the API requires. */
export class BlockMaker {
  readonly #documentNames = new Set<string>();
  /** Whether a cache point was moved from its requested place. */
  hasMovedCachePoint = false;

  /** @param withThinking whether earlier thinking may be sent: only models that think accept it */
  message(turn: Turn, withThinking: boolean): { role: string; content: Block[] } {
    if (turn.role === "user") {
      const results = turn.results.flatMap((result) => this.#result(result));
      const content = [...results, ...turn.parts.flatMap((part) => this.#part(part))];
      return { role: "user", content: this.#withCachePointsMoved(content) };
    }
    refuseImages(turn, "Bedrock");
    return { role: "assistant", content: contentInOrder(turn, withThinking).flatMap(blocksOf) };
  }

  /**
   * A cache point must not follow a document that Bedrock converts to text: it is moved before such documents, or
   * dropped if nothing precedes them.
   */
  #withCachePointsMoved(content: Block[]): Block[] {
    const placed: Block[] = [];
    for (const block of content) {
      let at = placed.length;
      while (isCachePoint(block) && isTextDocument(placed[at - 1])) at -= 1;
      const isMoved = at < placed.length;
      if (isMoved) this.hasMovedCachePoint = true;
      if (!isMoved || (at > 0 && !isCachePoint(placed[at - 1]))) placed.splice(at, 0, block);
    }
    return placed;
  }

  #result({ callId, parts, cacheControl }: ToolResult): Block[] {
    // A cache point within a result is not supported, only one after it.
    const content = parts.map((part) => this.#block(part));
    const cache = cacheControl ?? parts.findLast((part) => part.cacheControl !== undefined)?.cacheControl;
    return [{ toolResult: { toolUseId: portableToolId(callId), content } }, ...cachePoint(cache)];
  }

  #part(part: Part): Block[] {
    return [this.#block(part), ...cachePoint(part.cacheControl)];
  }

  #block(part: Part): Block {
    if (part.type === "text") return { text: part.text };
    if (part.type === "audio") return { audio: { format: part.format, source: { bytes: part.base64 } } };
    const { mediaType, base64 } = bytesOf(part.media, part.path);
    if (part.type === "document") {
      const format = documentFormat(mediaType, part);
      return { document: { format, name: this.#documentName(part), source: { bytes: base64 } } };
    }
    const format = /^image\/(png|jpeg|gif|webp)$/.exec(mediaType)?.[1];
    if (format === undefined)
      refuse(part.path, `${mediaType} is not an image type that Bedrock supports: send PNG, JPEG, GIF or WebP`);
    return { image: { format, source: { bytes: base64 } } };
  }

  /** Letters, digits, single spaces, hyphens and brackets, unique among the documents of a request. */
  #documentName({ name }: DocumentPart): string {
    const stem = (name ?? "document").replace(/\.\w{1,5}$/, "");
    const plain =
      stem
        .replace(/[^\w\s()[\]-]|_/g, "-")
        .replace(/\s+/g, " ")
        .trim()
        .slice(0, 190) || "document";
    let unique = plain;
    for (let n = 2; this.#documentNames.has(unique); n += 1) unique = `${plain} ${n}`;
    this.#documentNames.add(unique);
    return unique;
  }
}

function isCachePoint(block: Block | undefined): boolean {
  return block !== undefined && "cachePoint" in block;
}

function isTextDocument(block: Block | undefined): boolean {
  const document = block?.["document"];
  return isObject(document) && document["format"] !== "pdf";
}

function blocksOf(item: ContentItem): Block[] {
  if (item.kind === "thinking") return [reasoningBlock(item.block)];
  return item.kind === "text" ? textBlocks(item.part) : callBlocks(item.call);
}

export function textBlocks({ text, cacheControl }: TextPart): Block[] {
  return [{ text }, ...cachePoint(cacheControl)];
}

/** Anthropic's `cache_control` marks a block; Bedrock's cache point follows it. */
export function cachePoint(cacheControl: unknown): Block[] {
  if (!cacheControl) return [];
  const ttl = isObject(cacheControl) && typeof cacheControl["ttl"] === "string" ? { ttl: cacheControl["ttl"] } : {};
  return [{ cachePoint: { type: "default", ...ttl } }];
}

function callBlocks({ id, name, arguments: input, source }: Call): Block[] {
  return [{ toolUse: { toolUseId: portableToolId(id), name, input } }, ...cachePoint(source["cache_control"])];
}

function reasoningBlock({ thinking, signature, data }: Record<string, unknown>): Block {
  if (data !== undefined) return { reasoningContent: { redactedContent: data } };
  return { reasoningContent: { reasoningText: { text: thinking, signature } } };
}

function bytesOf(media: Media, path: string): { mediaType: string; base64: string } {
  if (media.kind === "bytes") return media;
  if (media.kind === "url") return refuse(path, "Bedrock does not fetch links: send the bytes as a data: URL");
  return refuse(`${path}.file_id`, "Bedrock does not store files: send file_data");
}

const documentFormats: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "text/html": "html",
  "text/markdown": "md",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
};

function documentFormat(mediaType: string, part: DocumentPart): string {
  const known = lookUp(documentFormats, mediaType.split(";")[0] ?? "");
  if (known !== undefined) return known;
  const extension = /\.(pdf|csv|docx?|xlsx?|html|txt|md)$/i.exec(part.name ?? "")?.[1]?.toLowerCase();
  if (extension !== undefined) return extension;
  if (/^text\/|^application\/(?:json|xml|yaml|x-yaml)/.test(mediaType)) return "txt";
  return refuse(part.path, `${mediaType} is not a document type that Bedrock supports`);
}
