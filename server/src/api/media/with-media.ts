import { z } from "zod";
import type { MediaOwner } from "../../domain/media.ts";
import { ServiceError } from "../../domain/errors.ts";
import { rawJson, RawJson, type Reply } from "../../http/reply.ts";
import { inlineMedia } from "../../ingest/media/inline-media.ts";
import { storageLimits } from "../../storage/limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";

export const mediaQuery = () => ({
  media: z.enum(["inline", "reference"], { error: "media must be inline or reference" }).optional(),
});

/** A JSON response with the content of its media in place of the references. @throws ServiceError `query_too_large` */
export async function withMedia(
  spans: Pick<SpanStore, "readMedia">,
  of: MediaOwner,
  answer: Reply | RawJson,
  signal: AbortSignal,
): Promise<RawJson> {
  const text = answer instanceof RawJson ? answer.text : textOf(answer);
  const whole = text === undefined ? undefined : await inlineMedia(spans, of, text, signal);
  if (whole !== undefined) return rawJson(whole);
  const message = `With its media the response has more than ${storageLimits.pagePayloadBytes >> 20} MiB. Leave media=inline out, and read the references.`;
  throw new ServiceError("query_too_large", message);
}

/** Undefined if it is too large. */
function textOf({ payload }: Reply): string | undefined {
  const data = payload?.data ?? "";
  if (typeof data === "string") return data;
  if (data instanceof Uint8Array) return Buffer.from(data).toString();
  return data.bytes > storageLimits.pagePayloadBytes ? undefined : Buffer.concat([...data.pieces]).toString();
}
