import { isObject } from "../../../lib/json.ts";

/**
 * Converts content parts of other wire formats to OpenAI's chat form; undefined if it has no counterpart. Supports
 * Anthropic's `image` and `document`, the Responses API's `input_text`, `output_text`, `input_image` and `input_file`,
 * Mistral's `document_url`.
 */
export function asOpenaiPart(part: Record<string, unknown>): Record<string, unknown> | undefined {
  const written = write(part);
  const cacheControl = part["cache_control"];
  return written !== undefined && cacheControl ? { ...written, cache_control: cacheControl } : written;
}

function write(part: Record<string, unknown>): Record<string, unknown> | undefined {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
      return typeof part["text"] === "string" ? { type: "text", text: part["text"] } : undefined;
    case "input_image":
      return typeof part["image_url"] === "string" ? imageAt(part["image_url"]) : undefined;
    case "input_file": {
      const { filename, file_data, file_id, file_url } = part;
      return fileOf({ filename, file_data: file_data ?? file_url, file_id });
    }
    case "document_url":
      return typeof part["document_url"] === "string"
        ? fileOf({ filename: part["document_name"], file_data: part["document_url"] })
        : undefined;
    case "image":
      return isObject(part["source"]) ? imageOf(part["source"]) : undefined;
    case "document":
      return isObject(part["source"]) ? documentOf(part["source"], part["title"]) : undefined;
    default:
      return undefined;
  }
}

function imageOf(source: Record<string, unknown>): Record<string, unknown> | undefined {
  if (source["type"] === "file") return fileOf({ file_id: source["file_id"] });
  const url = urlOf(source);
  return url === undefined ? undefined : imageAt(url);
}

function documentOf(source: Record<string, unknown>, title: unknown): Record<string, unknown> | undefined {
  if (source["type"] === "file") return fileOf({ filename: title, file_id: source["file_id"] });
  // A text document is sent as text: every model reads it.
  if (source["type"] === "text" && typeof source["data"] === "string") {
    const heading = typeof title === "string" && title !== "" ? `${title}\n\n` : "";
    return { type: "text", text: `${heading}${source["data"]}` };
  }
  return fileOf({ filename: title ?? "document.pdf", file_data: urlOf(source) });
}

/** `{type: "base64", media_type, data}` or `{type: "url", url}` */
function urlOf({ type, media_type: mediaType, data, url }: Record<string, unknown>): string | undefined {
  if (type === "url") return typeof url === "string" ? url : undefined;
  return type === "base64" && typeof data === "string" && typeof mediaType === "string"
    ? `data:${mediaType};base64,${data}`
    : undefined;
}

function imageAt(url: string): Record<string, unknown> {
  return { type: "image_url", image_url: { url } };
}

function fileOf(file: Record<string, unknown>): Record<string, unknown> | undefined {
  const sources = Object.entries(file).filter(([, value]) => typeof value === "string" && value !== "");
  const members = Object.fromEntries(sources);
  return members["file_data"] === undefined && members["file_id"] === undefined
    ? undefined
    : { type: "file", file: members };
}
