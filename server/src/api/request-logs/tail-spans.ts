import { z } from "zod";
import { userPrincipal } from "../../auth/authenticator.ts";
import type { BrowserSessions } from "../../auth/browser-sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { expandPermissions } from "../../domain/permissions.ts";
import type { KeyPrincipal } from "../../domain/principal.ts";
import type { User } from "../../domain/user.ts";
import { sessionIdsIn } from "../../http/browser-session.ts";
import { endpoint, type Context } from "../../http/endpoint.ts";
import { includeFieldsQuery, readEnvironmentQuery } from "../../http/query.ts";
import type { ResponseWriter } from "../../http/response-writer.ts";
import { readLiveCursor, type LiveCursor } from "../../ingest/live/live-cursor.ts";
import type { LiveTail } from "../../ingest/live/live-tail.ts";
import { httpLimits } from "../../http/limits.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";
import type { ScoreStore } from "../../storage/control/score-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { selectionQuery } from "../read-filters.ts";
import { attachScores } from "./attach-scores.ts";
import { columnsOf, listMembers, presentSpan } from "./present-span.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";

const tailQuery = z.object({
  ...readEnvironmentQuery(),
  log_type: selectionQuery().log_type,
  filters: selectionQuery().filters,
  ...includeFieldsQuery(),
  last_event_id: z
    .string()
    .max(httpLimits.nameChars)
    .optional()
    .meta({ description: "The same as the header Last-Event-ID, for clients that cannot set it." }),
});

type TailDeps = SpanReadDeps & {
  spans: Pick<SpanStore, "hydrateSpans">;
  stores: { scores: Pick<ScoreStore, "listOfLogs">; apiKeys: Pick<ApiKeyStore, "find"> };
  live: LiveTail;
  browsers: Pick<BrowserSessions, "find">;
};

export const tailSpans = (deps: TailDeps) =>
  endpoint({
    id: "tail_spans",
    method: "GET",
    path: "/api/request-logs/live/",
    aliases: ["/request-logs/live/"],
    summary: "Follow spans as they arrive",
    description:
      "Server-sent events: one for each span that becomes readable, in the row shape of the list. Filters are in the URL as in the " +
      "list; a name that is not a field is refused. The `id` of an event is a cursor: with the header `Last-Event-ID` a stream continues after it. " +
      "`event: skipped` states how many spans a stream skipped (`count`, null if unknown).",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:read",
    query: tailQuery,
    success: {
      status: 200,
      contentType: "text/event-stream",
      description:
        "Lines `id: <cursor>` and `data: <span as JSON>`; a comment every 15 s. Ends when the client disconnects.",
    },
    docs: {
      headers: {
        request: { "Last-Event-ID": "The `id` of the last event that the client received." },
        answer: {},
        error: {},
      },
    },
    errors: ["invalid_request", "unavailable"],
    handler(context) {
      const { principal, query, rawQuery, headers, signal } = context;
      const { organization_id: organizationId } = principal;
      const cursor = readCursor(headers["last-event-id"], query.last_event_id);
      refuseWindow(rawQuery);
      const read = {
        organizationId,
        query: { ...query, start_time: undefined, end_time: undefined },
        body: {},
        rawQuery,
      };
      const { scope, filter, warnings } = readSelection(deps, read);
      if (warnings.length > 0) throw new ServiceError("invalid_request", `${warnings.join("; ")}.`);
      if (context.method === "HEAD") {
        openStream(context).end();
        return;
      }
      const members = listMembers(query.include_fields);
      const fields = columnsOf(members);
      deps.live.listen(
        {
          name: JSON.stringify([scope, filter?.sql, filter?.params, members]),
          selection: { scope, filter },
          cursor,
          signal,
          isAllowed: () => mayGoOn(deps, context),
          async present(keys, reading) {
            const rows = await deps.spans.hydrateSpans(scope, keys, fields, reading);
            const shown = members.includes("scores")
              ? await attachScores(deps.stores.scores, organizationId, rows)
              : rows;
            return new Map(shown.map((span) => [span.unique_id, presentSpan(span, members)]));
          },
        },
        () => openStream(context),
      );
    },
  });

function openStream(context: Pick<Context, "hijack">): ResponseWriter {
  const response = context.hijack();
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-store",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  });
  return response;
}

function refuseWindow(rawQuery: URLSearchParams): void {
  const name = ["start_time", "end_time"].find((each) => rawQuery.has(each));
  if (name === undefined) return;
  const message = `${name} has no effect on this route, which begins now or behind last_event_id`;
  throw new ServiceError("invalid_request", `${message}.`, { errors: { [name]: [message] } });
}

function readCursor(header: string | string[] | undefined, parameter: string | undefined): LiveCursor | undefined {
  const text = (Array.isArray(header) ? header[0] : header) || parameter;
  if (text === undefined || text === "") return undefined;
  const cursor = readLiveCursor(text);
  if (cursor !== undefined) return cursor;
  const message = "must be the id of an event of this stream; leave it out to begin now";
  throw new ServiceError("invalid_request", `last_event_id ${message}.`, { errors: { last_event_id: [message] } });
}

/** A page that stays open does not extend its session. */
async function mayGoOn(
  { stores, browsers, now }: Pick<TailDeps, "stores" | "browsers" | "now">,
  context: { principal: KeyPrincipal } & Parameters<typeof sessionIdsIn>[0],
): Promise<boolean> {
  const { principal } = context;
  const ids = principal.organization_key_id === "" ? sessionIdsIn(context) : [];
  if (ids.length === 0) return await mayRead(stores.apiKeys, principal, now());
  let user: User | undefined;
  for (const id of ids) user ??= await browsers.find(id, { isUse: false });
  return (
    user?.unique_organization_id === principal.organization_id && userPrincipal(user).permissions.has("spans:read")
  );
}

async function mayRead(keys: Pick<ApiKeyStore, "find">, key: KeyPrincipal, nowMs: number): Promise<boolean> {
  const found = await keys.find(key.organization_id, key.organization_key_id, new Date(nowMs).toISOString());
  return found !== undefined && expandPermissions(found.permissions).has("spans:read");
}
