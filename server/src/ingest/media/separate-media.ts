import { hash } from "node:crypto";
import { mediaReference, putMediaBack } from "../../domain/media.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { isPoisonBatch, type SpanBatch, type SpanStore } from "../../storage/spans/span-store.ts";
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

/**
 * Inserts rows of spans without their media, which is inserted into its own table first: a reference is never stored
 * before its content. Content that was stored recently is not sent again, however many turns of a conversation repeat
 * it; older content is, so that the sweep of unused media (`SpanStore.sweepMedia`) sees it as new.
 */
export function withMediaApart(store: Pick<SpanStore, "insert">, nowMs: () => number): Pick<SpanStore, "insert"> {
  const stored = new ExpiringLru<string, true>({
    maxEntries: ingestLimits.mediaKnown,
    ttlMs: ingestLimits.mediaKnownMs,
    nowMs,
  });
  const keyOf = ({ organization_id, id }: MediaRow) => `${organization_id}/${id}`;

  return {
    async insert(batch: SpanBatch, signal?: AbortSignal) {
      const { ndjson, media } = separateMedia(batch.ndjson);
      const fresh = media.filter((row) => stored.get(keyOf(row)) === undefined);
      if (fresh.length > 0) {
        const rows = Buffer.from(fresh.map((row) => `${JSON.stringify(row)}\n`).join(""));
        // The time is part of the token, so that a retry much later stores them as new again.
        const token = `${batch.token}:media:${Math.floor(nowMs() / ingestLimits.mediaKnownMs)}:${hash("sha256", rows, "hex")}`;
        try {
          await store.insert({ ndjson: rows, rows: fresh.length, token, table: "media" }, signal);
        } catch (error) {
          // Spans are never refused because of their media: they then keep it inline.
          if (isPoisonBatch(error)) return await store.insert(batch, signal);
          throw error;
        }
        for (const row of fresh) stored.set(keyOf(row), true);
      }
      await store.insert({ ...batch, ndjson }, signal);
    },
  };
}
