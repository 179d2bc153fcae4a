import { sniffBase64, type ShownAs } from "./sniff-base64.ts";

/**
 * An image, recording or video of a message, classified by how it may be shown. The browser gets it as media only if
 * its bytes prove the type, whatever the message declares; nothing is fetched from another host before the user
 * requests it.
 */
export type Media =
  /** Bytes contained in the message. `src` is a data URI with the type of the bytes. */
  | { kind: "inline"; shown: ShownAs; src: string; mediaType: string; bytes: number }
  /** Stored by the server, which serves it with harmless types only. */
  | { kind: "stored"; shown: ShownAs | "file"; src: string }
  | { kind: "external"; shown: ShownAs | "file"; url: string; host: string }
  /**
   * Not shown: a type that browsers execute or cannot show, bytes of another type than declared, or an invalid address.
   */
  | { kind: "opaque"; label: string; bytes: number | undefined; reason: string };

/** Media as a message declares it. `data` is base64, a data URI or a URL: senders mix them up. */
export type MediaClaim = { shown: ShownAs | "file"; data: unknown; mediaType?: unknown };

export function readMedia({ shown, data, mediaType }: MediaClaim): Media {
  if (typeof data !== "string" || data.trim() === "") {
    return {
      kind: "opaque",
      label: labelOf(mediaType, shown),
      bytes: undefined,
      reason: "The message names no content.",
    };
  }
  const text = data.trim();
  if (storedPath.test(text)) return { kind: "stored", shown: shownOf(mediaType) ?? shown, src: text };
  if (/^data:/i.test(text)) return readDataUri(text, shown);
  if (/^[a-z][a-z\d+.-]*:/i.test(text)) return readAddress(text, shown);
  return readBase64(text, typeof mediaType === "string" ? mediaType : undefined, shown);
}

/** The server's own references to large media; no other path of this origin is ever requested. */
const storedPath = /^\/api\/media\/[\da-f]{64}\/$/;

const dataUri = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

function readDataUri(text: string, shown: MediaClaim["shown"]): Media {
  const head = dataUri.exec(text.slice(0, 512));
  const declared = head?.[1]?.toLowerCase();
  if (head === null || head[3] === undefined) {
    return { kind: "opaque", label: labelOf(declared, shown), bytes: text.length, reason: "Only base64 is shown." };
  }
  return readBase64(text.slice(head[0].length), declared, shown);
}

function readBase64(text: string, declared: string | undefined, shown: MediaClaim["shown"]): Media {
  const base64 = text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0);
  const label = labelOf(declared, shown);
  if (!/^[A-Za-z\d+/]+={0,2}$/.test(base64)) {
    return { kind: "opaque", label, bytes: undefined, reason: "The content is not base64." };
  }
  const found = sniffBase64(base64);
  if (found === undefined) {
    const reason = "The bytes are of no type that is shown here.";
    return { kind: "opaque", label, bytes, reason };
  }
  // A container may contain only sound.
  const isSound = found.shown === "video" && (shown === "audio" || declared?.startsWith("audio/") === true);
  const isOther = !isSound && shown !== "file" && shown !== found.shown;
  if (isOther) {
    const reason = `The message says ${shown}, and the bytes are ${found.mediaType}.`;
    return { kind: "opaque", label, bytes, reason };
  }
  const mediaType = isSound ? found.mediaType.replace("video/", "audio/") : found.mediaType;
  return {
    kind: "inline",
    shown: isSound ? "audio" : found.shown,
    src: `data:${mediaType};base64,${base64}`,
    mediaType,
    bytes,
  };
}

function readAddress(text: string, shown: MediaClaim["shown"]): Media {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === "https:" || url.protocol === "http:")) {
    return { kind: "external", shown, url: url.href, host: url.host };
  }
  const scheme = text.slice(0, text.indexOf(":")).toLowerCase();
  return {
    kind: "opaque",
    label: text.slice(0, 200),
    bytes: undefined,
    reason: `Addresses of ${scheme}: are not opened.`,
  };
}

function shownOf(mediaType: unknown): ShownAs | undefined {
  const [kind] = typeof mediaType === "string" ? mediaType.toLowerCase().split("/") : [];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : undefined;
}

const labelOf = (mediaType: unknown, shown: string): string =>
  typeof mediaType === "string" && mediaType !== "" ? mediaType.slice(0, 100) : shown;
