import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { environmentQuery, includeFieldsQuery } from "../../http/query.ts";
import { rawJson } from "../../http/reply.ts";
import type { ScoreStore } from "../../storage/control/score-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { mediaQuery, withMedia } from "../media/with-media.ts";
import { attachNewMessages, needsNewMessages } from "./attach-new-messages.ts";
import { attachScores } from "./attach-scores.ts";
import { allMembers, listMembers, presentSpan } from "./present-span.ts";
import { spanSchema } from "./span-schema.ts";

const isUuid = (id: string): boolean => z.guid().safeParse(id).success;

export const retrieveSpan = (deps: {
  spans: Pick<SpanStore, "retrieveSpan" | "findNewMessages" | "readMedia">;
  stores: { scores: Pick<ScoreStore, "listOfLogs"> };
  /** Resolves once previously accepted spans are stored, or after a timeout. */
  caughtUp: () => Promise<unknown>;
}) =>
  endpoint({
    id: "retrieve_span",
    method: "GET",
    path: "/api/request-logs/{unique_id}/",
    aliases: ["/request-logs/{unique_id}/"],
    summary: "Retrieve a span",
    description:
      "All stored fields except reserved metadata, with scores and limit_info; or only those named in include_fields. Both " +
      "environments are searched. Images, recordings and documents of more than 64 KB are shown as references " +
      "(`/api/media/{id}/`); `media=inline` returns the content instead.",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    query: z.object({ ...environmentQuery(), ...includeFieldsQuery(), ...mediaQuery() }),
    success: { status: 200, schema: spanSchema },
    errors: ["not_found", "query_too_large", "unavailable"],
    async handler({ principal, params, query, signal }) {
      const id = params.unique_id;
      const { environment = "all" } = query;
      const scope = { organization_id: principal.organization_id, ...(environment !== "all" && { environment }) };
      if (!isUuid(id)) throw notFound();
      let span = await deps.spans.retrieveSpan(scope, id, signal);
      if (span === undefined) {
        // A span may have been accepted after the last insert: reading its id immediately must find it.
        await deps.caughtUp();
        span = await deps.spans.retrieveSpan(scope, id, signal);
      }
      if (span === undefined) throw notFound();
      const [scored = span] = await attachScores(deps.stores.scores, principal.organization_id, [span]);
      const { include_fields: requested } = query;
      const members = requested === undefined ? allMembers : listMembers(requested);
      const [withNewMessages = scored] = needsNewMessages(members)
        ? await attachNewMessages(deps.spans, scope, [scored], signal)
        : [];
      const answer = rawJson(presentSpan(withNewMessages, members));
      return query.media === "inline" ? await withMedia(deps.spans, scope, answer, signal) : answer;
    },
  });

function notFound(): ServiceError {
  return new ServiceError("not_found", "There is no span with this unique_id.");
}
