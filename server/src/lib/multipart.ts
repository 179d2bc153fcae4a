/**
 * Parses in-memory `multipart/form-data` bodies (RFC 7578): parts are views of the body, nothing is copied. Preamble,
 * epilogue and parts without a name are ignored.
 */

export type FormPart = {
  name: string;
  /** Undefined for a part that is not a file; "" if the file has no name. Without folders. */
  fileName: string | undefined;
  /** In lower case without parameters; "" if none is declared. */
  mediaType: string;
  bytes: Buffer;
};

/** The message is a phrase that completes "The body …". */
export class BadMultipart extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadMultipart";
  }
}

const maxHeadBytes = 16 * 1024;
const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");

/** The boundary of a Content-Type; undefined if it is not a valid one of `multipart/form-data`. */
export function boundaryOf(contentType: string): string | undefined {
  if (!/^\s*multipart\/form-data\b/i.test(contentType)) return undefined;
  const boundary = readParameters(contentType).get("boundary");
  return boundary !== undefined && /^[\x20-\x7e]{1,70}$/.test(boundary) ? boundary : undefined;
}

/** @throws BadMultipart */
export function parseMultipart(bytes: Buffer, boundary: string, maxParts: number): FormPart[] {
  const parts: FormPart[] = [];
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const opening = delimiter.subarray(2);
  const startsWithIt = bytes.subarray(0, opening.length).equals(opening);
  let at = startsWithIt ? opening.length : afterNext(bytes, delimiter, 0);
  for (;;) {
    if (at === -1) throw new BadMultipart("ends within a part");
    const line = bytes.indexOf(lineEnd, at);
    const rest = bytes.toString("latin1", at, line === -1 ? bytes.length : Math.min(line, at + 256));
    if (rest.startsWith("--")) return parts;
    if (line === -1 || rest.trim() !== "") throw new BadMultipart("has a boundary with more on its line");
    const end = afterNext(bytes, delimiter, line);
    if (end === -1) throw new BadMultipart("ends within a part");
    const part = readPart(bytes.subarray(line, end - delimiter.length));
    if (part) parts.push(part);
    if (parts.length > maxParts) throw new BadMultipart(`has more than ${maxParts} parts`);
    at = end;
  }
}

function afterNext(bytes: Buffer, delimiter: Buffer, from: number): number {
  const found = bytes.indexOf(delimiter, from);
  return found === -1 ? -1 : found + delimiter.length;
}

/**
 * @param bytes from the end of the boundary's line to the next boundary
 * @throws BadMultipart
 */
export function readPart(bytes: Buffer): FormPart | undefined {
  const end = bytes.subarray(0, maxHeadBytes).indexOf(headEnd);
  if (end === -1) throw new BadMultipart("has a part without an end of its headers");
  const headers = bytes
    .toString("utf8", 0, end)
    .split("\r\n")
    .map((line) => [line.slice(0, line.indexOf(":")).trim().toLowerCase(), line.slice(line.indexOf(":") + 1)] as const);
  const of = (name: string): string => headers.find(([header]) => header === name)?.[1] ?? "";
  const disposition = readParameters(of("content-disposition"));
  const name = disposition.get("name");
  if (name === undefined) return undefined;
  return {
    name,
    fileName: fileNameOf(disposition),
    mediaType: (of("content-type").split(";")[0] ?? "").trim().toLowerCase(),
    bytes: bytes.subarray(end + headEnd.length),
  };
}

function fileNameOf(disposition: ReadonlyMap<string, string>): string | undefined {
  const extended = /^utf-8'[^']*'(.*)$/i.exec(disposition.get("filename*") ?? "")?.[1];
  const name = (extended === undefined ? undefined : percentDecoded(extended)) ?? disposition.get("filename");
  return name?.split(/[/\\]/).at(-1);
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `; name="value"` and `; name=value`; the first value of a repeated name is used. */
function readParameters(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, bare] of header.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g)) {
    const value = quoted === undefined ? (bare ?? "") : unquoted(quoted);
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return parameters;
}

/** Undoes the escapes of browsers and of RFC 822. */
function unquoted(text: string): string {
  return text
    .replace(/\\(["\\])/g, "$1")
    .replace(/%(22|0D|0A)/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
