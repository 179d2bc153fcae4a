/** Media that a browser shows without executing anything. */
export type ShownAs = "image" | "audio" | "video";

type Signature = {
  shown: ShownAs;
  mediaType: string;
  start: string;
  /** Further bytes expected at an offset. */ beside?: [at: number, bytes: string];
};

/** Types by their leading bytes. SVG is excluded. */
const signatures: readonly Signature[] = [
  { shown: "image", mediaType: "image/png", start: "\x89PNG\r\n\x1a\n" },
  { shown: "image", mediaType: "image/jpeg", start: "\xff\xd8\xff" },
  { shown: "image", mediaType: "image/gif", start: "GIF87a" },
  { shown: "image", mediaType: "image/gif", start: "GIF89a" },
  { shown: "image", mediaType: "image/webp", start: "RIFF", beside: [8, "WEBP"] },
  { shown: "image", mediaType: "image/avif", start: "", beside: [4, "ftypavif"] },
  { shown: "image", mediaType: "image/bmp", start: "BM", beside: [6, "\0\0\0\0"] },
  { shown: "audio", mediaType: "audio/wav", start: "RIFF", beside: [8, "WAVE"] },
  { shown: "audio", mediaType: "audio/mpeg", start: "ID3" },
  ...["\xe2", "\xe3", "\xf2", "\xf3", "\xfa", "\xfb"].map((layer) => mp3(`\xff${layer}`)),
  { shown: "audio", mediaType: "audio/aac", start: "\xff\xf1" },
  { shown: "audio", mediaType: "audio/aac", start: "\xff\xf9" },
  { shown: "audio", mediaType: "audio/ogg", start: "OggS" },
  { shown: "audio", mediaType: "audio/flac", start: "fLaC" },
  { shown: "audio", mediaType: "audio/mp4", start: "", beside: [4, "ftypM4A"] },
  { shown: "video", mediaType: "video/mp4", start: "", beside: [4, "ftyp"] },
  { shown: "video", mediaType: "video/webm", start: "\x1aE\xdf\xa3" },
];

function mp3(start: string): Signature {
  return { shown: "audio", mediaType: "audio/mpeg", start };
}

/** Undefined for all other data. */
export function sniffBase64(base64: string): { shown: ShownAs; mediaType: string } | undefined {
  const head = decode(base64.slice(0, 32));
  return signatures.find(
    ({ start, beside: [at, bytes] = [0, ""] }) => head.startsWith(start) && head.startsWith(bytes, at),
  );
}

/** Returns "" if the text is not base64. */
function decode(base64: string): string {
  try {
    return atob(base64.slice(0, base64.length - (base64.length % 4)));
  } catch {
    return "";
  }
}
