import { refuse } from "./refuse.ts";

/** The source of an image or a document. */
export type Media =
  | { kind: "bytes"; mediaType: string; base64: string }
  /** A link, or an object of Cloud Storage: `gs://…`. */
  | { kind: "url"; url: string }
  | { kind: "file"; fileId: string };

/** Media types and their parameters are short: a longer text is not the head of a data: URL. */
const headChars = 512;

/**
 * Reads a `data:`, `http(s):` or `gs:` URL. Links are never followed here: providers fetch them, or the request is
 * refused. The media type is detected from the bytes first, as providers refuse a JPEG that is declared as PNG.
 */
export function readMediaUrl(url: string, path: string): Media {
  if (/^(?:https?|gs):\/\//i.test(url)) return { kind: "url", url };
  const comma = url.slice(0, headChars).indexOf(",");
  if (!/^data:/i.test(url) || comma === -1)
    return refuse(path, "must be a data: URL, an https: URL or, for Gemini, a gs: URL");
  const [mediaType = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const data = url.slice(comma + 1);
  const isBase64 = parameters.at(-1)?.trim().toLowerCase() === "base64";
  const base64 = isBase64 ? data : Buffer.from(percentDecoded(data, path)).toString("base64");
  return readBase64(base64, mediaType, path);
}

/** Bytes as base64, with the media type that was declared, if any. */
export function readBase64(base64: string, declaredType: string, path: string): Media {
  if (base64.trim() === "") return refuse(path, "holds no bytes");
  const mediaType = sniffMediaType(base64) ?? (declaredType.trim().toLowerCase() || "text/plain");
  return { kind: "bytes", mediaType: mediaType === "image/jpg" ? "image/jpeg" : mediaType, base64 };
}

function percentDecoded(text: string, path: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse(path, "is not a well-formed data: URL");
  }
}

/** Detects the types that providers distinguish by their first bytes, else `undefined`. */
function sniffMediaType(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, 32), "base64").toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  if (head.startsWith("%PDF-")) return "application/pdf";
  return undefined;
}
