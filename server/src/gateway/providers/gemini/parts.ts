import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import type { Target } from "../provider.ts";
import type { AssistantTurn, Call, ToolResult, Turn } from "../shared/conversation.ts";
import type { Media } from "../shared/media.ts";
import type { Part } from "../shared/parts.ts";
import { refuse } from "../shared/refuse.ts";
import { fileUri, isVertex } from "./address.ts";
import type { GeminiModel } from "./models.ts";

/** A part of a Content: an object with one member, named after its kind, and its attachments. */
type GeminiPart = Record<string, unknown>;

export type Content = { role: "user" | "model"; parts: GeminiPart[] };

export function toContent(turn: Turn, target: Target, model: GeminiModel): Content {
  if (turn.role === "assistant") {
    return { role: "model", parts: [...texts(turn), ...images(turn, target), ...calls(turn.calls, model)] };
  }
  const responses = turn.results.map((result) => functionResponse(result, target, model));
  // Older models do not accept images within a result: they follow all results, which must stay together.
  const beside = model.isThirdGeneration ? [] : turn.results.flatMap((result) => mediaOf(result, target));
  return { role: "user", parts: [...responses, ...beside, ...turn.parts.map((part) => toPart(part, target))] };
}

function texts({ texts: items }: AssistantTurn): GeminiPart[] {
  return items.map(({ text }) => ({ text }));
}

function images({ images: drawn }: AssistantTurn, target: Target): GeminiPart[] {
  return drawn.map((image) => {
    const signature = signatureOf(image.source);
    return {
      ...toMedia(image.media, image, target),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
  });
}

/** The documented placeholder for a lost signature, or for a call that another model made. */
const noSignature = "skip_thought_signature_validator";

/** Only the first of parallel calls is signed; the third generation refuses calls without any signature. */
function calls(list: readonly Call[], model: GeminiModel): GeminiPart[] {
  const signatures = list.map(({ source }) => signatureOf(source));
  const isSigned = signatures.some((signature) => signature !== undefined);
  return list.map(({ id, name, arguments: args }, i) => {
    const signature = signatures[i] ?? (model.isThirdGeneration && !isSigned && i === 0 ? noSignature : undefined);
    return {
      functionCall: { ...(model.isThirdGeneration ? { id } : {}), name, args },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
  });
}

/** In the same place as in Google's own OpenAI-compatible API. */
function signatureOf({ extra_content: extra }: Record<string, unknown>): string | undefined {
  const google = isObject(extra) ? extra["google"] : undefined;
  const signature = isObject(google) ? google["thought_signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/**
 * A result is sent as text, whatever it contains: Gemini would interpret `$ref` in JSON as references, and round its
 * numbers.
 */
function functionResponse(result: ToolResult, target: Target, model: GeminiModel): GeminiPart {
  const output = result.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const media = model.isThirdGeneration ? mediaOf(result, target) : [];
  return {
    functionResponse: {
      ...(model.isThirdGeneration ? { id: result.callId } : {}),
      name: result.name,
      response: { output },
      ...(media.length > 0 ? { parts: media } : {}),
    },
  };
}

function mediaOf({ parts }: ToolResult, target: Target): GeminiPart[] {
  return parts.flatMap((part) => (part.type === "text" ? [] : [toPart(part, target)]));
}

const audioTypes: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  mp3: "audio/mp3",
  aiff: "audio/aiff",
  aac: "audio/aac",
  ogg: "audio/ogg",
  flac: "audio/flac",
};

function toPart(part: Part, target: Target): GeminiPart {
  if (part.type === "text") return { text: part.text };
  if (part.type !== "audio") return toMedia(part.media, part, target);
  const mimeType = lookUp(audioTypes, part.format.toLowerCase());
  if (mimeType === undefined) {
    refuse(`${part.path}.format`, `must be one of ${Object.keys(audioTypes).join(", ")} for Gemini`);
  }
  return { inlineData: { mimeType, data: part.base64 } };
}

function toMedia(
  media: Media,
  { path, name, mediaType }: { path: string; name?: string; mediaType?: string },
  target: Target,
): GeminiPart {
  if (media.kind === "bytes") return { inlineData: { mimeType: media.mediaType, data: media.base64 } };
  const uri = media.kind === "url" ? media.url : uploaded(media.fileId, path, target);
  const mimeType = mediaType ?? typeOfName(name) ?? typeOfName(uri.split(/[?#]/)[0]);
  if (mimeType === undefined && isVertex(target)) {
    refuse(
      path,
      "Vertex AI needs the media type of a link: send one with a file extension, a file with its format, or the bytes as a data: URL",
    );
  }
  return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: uri } };
}

/** A file of the Gemini API by its name or URI, or an object in Cloud Storage. */
function uploaded(fileId: string, path: string, target: Target): string {
  if (/^(?:https|gs):\/\//.test(fileId)) return fileId;
  if (/^files\/[\w-]+$/.test(fileId)) return fileUri(target, fileId);
  return refuse(`${path}.file_id`, "is not a file of Gemini: send files/…, gs://… or an https: URL");
}

const typesByExtension: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  pdf: "application/pdf",
  txt: "text/plain",
  csv: "text/csv",
  html: "text/html",
  md: "text/markdown",
  json: "application/json",
  mp3: "audio/mp3",
  wav: "audio/wav",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  mpeg: "video/mpeg",
  heif: "image/heif",
  flac: "audio/flac",
  ogg: "audio/ogg",
};

function typeOfName(name: string | undefined): string | undefined {
  return lookUp(typesByExtension, /\.([a-z0-9]{2,4})$/i.exec(name ?? "")?.[1]?.toLowerCase() ?? "");
}
