import { ServiceError } from "../../domain/errors.ts";
import type { Media } from "../../domain/media.ts";
import { endpoint } from "../../http/endpoint.ts";
import { content, type Reply } from "../../http/reply.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";

/** Types that a browser displays without executing anything. Everything else is a download. */
const shownTypes = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

export const getMedia = (deps: { spans: Pick<SpanStore, "readMedia"> }) =>
  endpoint({
    id: "get_media",
    method: "GET",
    path: "/api/media/{id}/",
    summary: "Get an image, recording or document of a span",
    description:
      "Spans show media of more than 64 KB as a reference to this route. It returns the bytes while a span of the " +
      "organization refers to them.",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    success: {
      status: 200,
      contentType: "application/octet-stream",
      description: "The bytes, with their own media type",
    },
    errors: ["not_found", "unavailable"],
    async handler({ principal, params, signal }) {
      return sendMedia(
        await deps.spans.readMedia({ organization_id: principal.organization_id }, [params.id], { signal }),
      );
    },
  });

/** The bytes, in a form that no browser executes. @throws ServiceError `not_found` */
export function sendMedia([media]: readonly Media[]): Reply {
  if (media === undefined) throw new ServiceError("not_found", "There is no media with this id.");
  const isShown = shownTypes.test(media.media_type);
  const base64 = media.text.slice(media.text.indexOf(",") + 1);
  return content(isShown ? media.media_type : "application/octet-stream", Buffer.from(base64, "base64"), {
    headers: {
      "cache-control": "private, max-age=300",
      "content-disposition": isShown ? "inline" : `attachment; filename="${media.id.slice(0, 12)}"`,
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    },
  });
}
