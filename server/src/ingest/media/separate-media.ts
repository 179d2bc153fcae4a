import { hash } from "node:crypto";
import { mediaReference } from "../../domain/media.ts";
import { limits } from "../../limits.ts";
import { organizationOf, splitLines } from "../row-lines.ts";
import { findMedia } from "./find-media.ts";

/** A row of the table `media`. */
export type MediaRow = { organization_id: string; id: string; media_type: string; text: string };

export type SeparatedRows = { ndjson: Buffer; media: MediaRow[] };

/** Replaces the media in rows of spans (NDJSON) by references, and returns each content once. */
export function separateMedia(ndjson: Buffer): SeparatedRows {
  if (ndjson.length < limits.mediaChars || findMedia(ndjson).length === 0) return { ndjson, media: [] };
  const media = new Map<string, MediaRow>();
  const lines = splitLines(ndjson).flatMap((line) => separateLine(line, media));
  return { ndjson: Buffer.concat(lines), media: [...media.values()] };
}

const closing = Buffer.from("}\n");

/** The pieces of the line without its media, with the ids of that as a last member. */
function separateLine(line: Buffer, media: Map<string, MediaRow>): Buffer[] {
  const organization_id = organizationOf(line);
  const found = findMedia(line);
  const body = line.subarray(0, line.lastIndexOf(0x7d));
  if (found.length === 0 || organization_id === undefined) return [line];
  const pieces: Buffer[] = [];
  const ids = new Set<string>();
  let at = 0;
  for (const { start, end, mediaType } of found) {
    const text = line.toString("latin1", start, end);
    const id = hash("sha256", text, "hex");
    media.set(`${organization_id}/${id}`, { organization_id, id, media_type: mediaType, text });
    ids.add(id);
    pieces.push(line.subarray(at, start), Buffer.from(mediaReference(id)));
    at = end;
  }
  return [...pieces, body.subarray(at), Buffer.from(`,"media_ids":${JSON.stringify([...ids])}`), closing];
}
