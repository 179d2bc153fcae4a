import { mediaReferences, putMediaBack, type MediaOwner } from "../../domain/media.ts";
import { storageLimits } from "../../storage/limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";

/**
 * Replaces references in the JSON text of a span with the content of its media. Undefined if the result would exceed
 * `storageLimits.pagePayloadBytes`: any text may repeat a reference many times.
 */
export async function inlineMedia(
  spans: Pick<SpanStore, "readMedia">,
  of: MediaOwner,
  json: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ids = Array.from(json.matchAll(mediaReferences()), ([, id = ""]) => id);
  if (ids.length === 0) return json;
  const media = await spans.readMedia(of, ids, { signal });
  const texts = new Map(media.map(({ id, text }) => [id, text]));
  const chars = ids.reduce((sum, id) => sum + (texts.get(id)?.length ?? 0), json.length);
  if (chars > storageLimits.pagePayloadBytes || media.some(({ text }) => text === "")) return undefined;
  return putMediaBack(json, texts);
}
