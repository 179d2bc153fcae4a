import { mediaReferences, putMediaBack } from "../../domain/media.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";

/** JSON text of a span with the content of its media in place of the references. */
export async function inlineMedia(
  spans: Pick<SpanStore, "readMedia">,
  organizationId: string,
  json: string,
  signal: AbortSignal,
): Promise<string> {
  const ids = Array.from(json.matchAll(mediaReferences()), ([, id = ""]) => id);
  if (ids.length === 0) return json;
  const media = await spans.readMedia({ organization_id: organizationId }, ids, signal);
  return putMediaBack(json, new Map(media.map(({ id, text }) => [id, text])));
}
