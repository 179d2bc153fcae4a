import { hash } from "node:crypto";
import { mediaReference, putMediaBack } from "../../domain/media.ts";
import { ingestLimits } from "../limits.ts";
import { organizationOf, splitLines } from "../writer/row-lines.ts";
import { findMedia, type FoundMedia } from "./find-media.ts";

/** A row of the table `media`. */
export type MediaRow = { organization_id: string; id: string; media_type: string; text: string };

export type SeparatedRows = { ndjson: Buffer; media: MediaRow[] };

/**
 * Replaces the media in rows of spans (NDJSON) with references, and returns each content once. A reference that a
 * sender wrote is text: a row only refers to the media it came with (see `inlineMedia` for rows that are stored again).
 */
export function separateMedia(ndjson: Buffer): SeparatedRows {
  if (ndjson.length < ingestLimits.mediaChars || findMedia(ndjson).length === 0) return { ndjson, media: [] };
  const media = new Map<string, MediaRow>();
  const lines = splitLines(ndjson).flatMap((line) => separateLine(line, media));
  return { ndjson: Buffer.concat(lines), media: [...media.values()] };
}

/**
 * Replaces media of at least `minChars` characters in a text, mostly JSON, with references. Returns the replaced texts
 * by id.
 */
export function takeMedia(text: string, minChars: number): { text: string; media: Map<string, string> } {
  const bytes = Buffer.from(text);
  const contents = findMedia(bytes, minChars).map((found) => contentOf(bytes, found));
  if (contents.length === 0) return { text, media: new Map() };
  const media = new Map(contents.map((content) => [content.id, content.text]));
  return { text: Buffer.concat(withReferences(bytes, contents)).toString(), media };
}

const closing = Buffer.from("}\n");

/** The pieces of the line without its media, and with a last member that lists the ids. */
function separateLine(line: Buffer, media: Map<string, MediaRow>): Buffer[] {
  const organization_id = organizationOf(line);
  const contents = restorable(
    line,
    findMedia(line).map((found) => contentOf(line, found)),
  );
  if (contents.length === 0 || organization_id === undefined) return [line];
  for (const { id, mediaType, text } of contents) {
    media.set(`${organization_id}/${id}`, { organization_id, id, media_type: mediaType, text });
  }
  const body = line.subarray(0, line.lastIndexOf(0x7d));
  const ids = new Set(contents.map(({ id }) => id));
  return [...withReferences(body, contents), Buffer.from(`,"media_ids":${JSON.stringify([...ids])}`), closing];
}

type Content = FoundMedia & { id: string; text: string };

function contentOf(line: Buffer, found: FoundMedia): Content {
  const escaped = line.toString("latin1", found.start, found.end);
  const text = escaped.replaceAll(/\\+([rn])/g, (_, letter) => (letter === "n" ? "\n" : "\r"));
  return { ...found, text, id: hash("sha256", text, "hex") };
}

/**
 * Excludes content whose line breaks could not be restored exactly, for example in text that only looks like JSON. Such
 * content stays in the row.
 */
function restorable(line: Buffer, contents: Content[]): Content[] {
  const isBroken = ({ text }: Content): boolean => text.includes("\n");
  if (!contents.some(isBroken)) return contents;
  const texts = new Map(contents.map(({ id, text }) => [id, text]));
  const separated = Buffer.concat(withReferences(line, contents)).toString();
  return putMediaBack(separated, texts) === line.toString() ? contents : contents.filter((one) => !isBroken(one));
}

function withReferences(line: Buffer, contents: readonly Content[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, id } of contents) {
    pieces.push(line.subarray(at, start), Buffer.from(mediaReference(id)));
    at = end;
  }
  return [...pieces, line.subarray(at)];
}
