import { ServiceError } from "../../domain/errors.ts";
import { mediaReferences, putMediaBack } from "../../domain/media.ts";
import { limits } from "../../limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";

/**
 * JSON text of a span with the content of its media in place of the references.
 * @throws ServiceError `query_too_large`: any text may repeat a reference, as often as it has room for it
 */
export async function inlineMedia(
  spans: Pick<SpanStore, "readMedia">,
  organizationId: string,
  json: string,
  signal: AbortSignal,
): Promise<string> {
  const ids = Array.from(json.matchAll(mediaReferences()), ([, id = ""]) => id);
  if (ids.length === 0) return json;
  const media = await spans.readMedia({ organization_id: organizationId }, ids, { signal });
  const texts = new Map(media.map(({ id, text }) => [id, text]));
  const chars = ids.reduce((sum, id) => sum + (texts.get(id)?.length ?? 0), json.length);
  if (chars > limits.pagePayloadBytes || media.some(({ text }) => text === "")) throw tooLarge();
  return putMediaBack(json, texts);
}

function tooLarge(): ServiceError {
  const message = `With its media the span has more than ${limits.pagePayloadBytes >> 20} MiB. Leave media=inline out, and read the references.`;
  return new ServiceError("query_too_large", message);
}
