import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { ServiceError } from "../../domain/errors.ts";
import type { Permission } from "../../domain/permissions.ts";
import type { ResponseWriter } from "../../http/response-writer.ts";
import { parseObjectText } from "../../lib/json.ts";
import { gatewayLimits } from "../limits.ts";
import { sendToUpstream, timesOf, type AttemptEnd, type AttemptRun } from "../call/attempt.ts";
import { ClientStream, errorOfProblem, openaiErrors, type CallError } from "../call/client-answer.ts";
import { createEventSource, feedEvents, type EventReader } from "../stream/event-source.ts";
import type { Exchange } from "../call/exchange.ts";
import type { AnswerReader, CompleteReply } from "../call/operation.ts";
import type { UpstreamCall, UpstreamProblem } from "../providers/provider.ts";
import { understandProblem } from "../providers/shared/understand-problem.ts";
import { readRouteHeaders } from "../chat/read-chat-request.ts";
import { readJsonReply } from "../providers/openai/read-reply.ts";
import type { Attempt } from "../routing/plan.ts";
import type { ProviderKey } from "../routing/router.ts";
import type { CallDeps } from "../call/run-call.ts";
import { readServiceParams } from "../request/service-params.ts";
import { markItems, markResponse, createMarker, removeMark } from "./key-marks.ts";
import { responseAsEvents } from "./response-as-events.ts";
import type { ResponseOwner, ResponseOwners } from "./response-owners.ts";

/** An operation on a response that its provider stores. */
export type StoredAction = { method: "GET" | "POST" | "DELETE"; below: "" | "/cancel" | "/input_items" };

export type StoredCall = {
  owner: ResponseOwner;
  permissions: ReadonlySet<Permission>;
  headers: IncomingHttpHeaders;
  /** The id that the caller sent, with or without the mark of a key. */
  id: string;
  query: URLSearchParams;
  signal: AbortSignal;
  /** Opens the response for a stream; called once there is something to write. */
  open: () => ResponseWriter;
  /** Whether a recorded call of this organization and environment created the response. */
  isRecorded: (id: string, owner: ResponseOwner) => Promise<boolean>;
};

export type StoredAnswer = { bytes: Buffer | string; provider: string } | { error: CallError };

export type StoredResponses = {
  /**
   * Sends the operation to the provider and key that created the response. Returns undefined after a stream, which has
   * been written.
   * @throws ServiceError `not_found`, `invalid_request`, `forbidden`
   */
  act(action: StoredAction, call: StoredCall): Promise<StoredAnswer | undefined>;
};

/** Providers that store responses. Others are called only for ids with the mark of their key. */
const keepers: ReadonlySet<string> = new Set(["openai", "azure", "xai", "fireworks"]);

type Deps = Pick<CallDeps, "pools" | "timeouts" | "router" | "metrics" | "commentMs"> & { owners: ResponseOwners };

export function createStoredResponses(deps: Deps): StoredResponses {
  return {
    async act(action, call) {
      const { value: id, keyMark } = removeMark(call.id);
      const { query, isStream } = readQuery(call.query, action);
      // A path segment of dots would change the path.
      const keys = /^\.*$/.test(id) ? [] : await keysOf(deps, call, id, keyMark);
      if (action.method !== "GET") await refuseElsewhere(deps, call, id);
      const problems: UpstreamProblem[] = [];
      for (const { attempt } of keys) {
        const upstream = callOf(attempt, action, id, query);
        const end = isStream
          ? await sendForStream(deps, { attempt, upstream, call, keyMark })
          : await send(deps, { attempt, upstream, call });
        if (end.kind === "streamed") return undefined;
        if (end.kind === "reply") {
          deps.metrics.attempts.inc({ outcome: "success" });
          return { bytes: markedAs(action, end.reply, keyMark), provider: attempt.target.provider };
        }
        if (end.kind !== "problem") throw call.signal.reason;
        deps.metrics.attempts.inc({ outcome: end.problem.kind });
        problems.push(understandProblem(end.problem, attempt.target.credential));
      }
      // An error from a key that knows the response has priority over a failure of another key.
      const reportable = problems.filter(({ status }) => status !== 404);
      const problem = reportable.find(({ kind }) => kind === "request") ?? reportable[0];
      if (problem !== undefined) return { error: errorOfProblem(problem) };
      throw new ServiceError("not_found", `Response with id '${call.id}' not found.`);
    },
  };
}

/**
 * Returns the key of the key mark, or without one the keys that may have made the response. Anybody can add a key
 * mark to an id, so a key that organizations share is used only for the organization that made the response.
 */
async function keysOf(deps: Deps, call: StoredCall, id: string, keyMark: string | undefined): Promise<ProviderKey[]> {
  const { owner, headers } = call;
  const keys = await deps.router.keys({
    organizationId: owner.organization_id,
    environment: owner.environment,
    params: readServiceParams({}, call),
    ...readRouteHeaders(headers),
  });
  const able = keys.filter(({ attempt, isVendor }) =>
    keyMark === undefined ? !isVendor || keepers.has(attempt.target.provider) : attempt.keyMark === keyMark,
  );
  const own = able.filter(({ isShared }) => !isShared);
  const shared = able.filter(({ isShared }) => isShared);
  const isOurs = shared.length > 0 && (await isOwner(deps, call, id, owner));
  return [...own, ...(isOurs ? shared : [])].slice(0, keyMark === undefined ? gatewayLimits.responseKeysPerCall : 1);
}

async function isOwner(deps: Deps, call: StoredCall, id: string, owner: ResponseOwner): Promise<boolean> {
  return deps.owners.isOwner(id, owner) ?? call.isRecorded(id, owner);
}

/** A key may serve both environments, but changes are limited to the caller's own. @throws ServiceError `forbidden` */
async function refuseElsewhere(deps: Deps, call: StoredCall, id: string): Promise<void> {
  const environment = call.owner.environment === "prod" ? "test" : "prod";
  if (await isOwner(deps, call, id, { ...call.owner, environment }))
    throw new ServiceError("forbidden", `This response was made in the ${environment} environment: use a key of it.`);
}

function markedAs({ below }: StoredAction, reply: CompleteReply, keyMark: string | undefined): Buffer | string {
  if (keyMark === undefined) return reply.bytes;
  const mark = below === "/input_items" ? markItems : markResponse;
  return JSON.stringify(mark(readJsonReply(reply).reply, keyMark));
}

type StoredRequest = { attempt: Attempt; upstream: UpstreamCall; call: StoredCall };

type StreamRequest = Pick<AttemptRun, "onEvents" | "attach">;

const noStream: StreamRequest = { onEvents: () => undefined, attach: () => undefined };

function send(
  { pools, timeouts }: Deps,
  { attempt: { isOperatorHost }, upstream, call: { signal } }: StoredRequest,
  reader: AnswerReader = completeReader,
  stream: StreamRequest = noStream,
): Promise<AttemptEnd> {
  const isStream = reader.stream !== undefined;
  const times = timesOf(timeouts, timeouts.totalMs, { furtherModels: 0, roomMs: Infinity }, isStream);
  const run = { reader, isStream, signal, mustStream: () => true, onAnswer: () => undefined, ...stream };
  return sendToUpstream(upstream, run, { pools, times, isOperatorHost });
}

const completeReader: AnswerReader = { readComplete: () => undefined, answer: ({ bytes: body }) => ({ body }) };

/** Forwards the events of a background response, from the first or from `starting_after` on, as they arrive. */
async function sendForStream(
  deps: Deps,
  request: StoredRequest & { keyMark: string | undefined },
): Promise<AttemptEnd> {
  const { attempt, call, keyMark } = request;
  let exchange: Exchange | undefined;
  const sent: { stream?: ClientStream } = {};
  const open = (): ClientStream => {
    const head = (): OutgoingHttpHeaders => ({ "x-spanway-provider": attempt.target.provider });
    const stream = new ClientStream(call.open(), { head, beforeEnd: (sendEnd) => sendEnd() });
    stream.source = exchange;
    stream.keepAlive(deps.commentMs);
    return stream;
  };
  const marker = keyMark === undefined ? undefined : createMarker(keyMark);
  const reader: AnswerReader = {
    ...completeReader,
    stream: (sink) => createEventSource({ ...storedStream, rewrite: marker?.event }, sink),
    // For a provider that does not stream.
    asStream: (reply, sink) => feedEvents(responseAsEvents(marker?.reply(reply) ?? reply), sink),
  };
  const end = await send(deps, request, reader, {
    attach: (attached) => void (exchange = attached),
    onEvents: (events) => (sent.stream ??= open()).write(events),
  });
  const { stream } = sent;
  if (end.kind === "problem" && stream === undefined) return end;
  deps.metrics.attempts.inc({
    outcome: end.kind === "problem" ? end.problem.kind : end.kind === "aborted" ? "gone" : "success",
  });
  if (end.kind === "aborted") {
    stream?.release();
    if (stream === undefined) throw call.signal.reason;
  } else if (end.kind === "problem") {
    stream?.fail(openaiErrors.ofBreak(understandProblem(end.problem, attempt.target.credential)));
  } else (stream ?? open()).end("");
  return { kind: "streamed" };
}

/**
 * Forwards every event immediately. The stream may end without a final event, which may come before `starting_after`.
 */
const storedStream: EventReader = {
  take: ({ data = "" }) => ({ hasContent: true, isDone: lastEvents.has(parseObjectText(data)?.["type"]) }),
  mayJustEnd: true,
};

const lastEvents: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed"]);

function callOf({ target, quirks }: Attempt, { method, below }: StoredAction, id: string, query: string): UpstreamCall {
  const [path = "", own = ""] = quirks.path("responses", target).split("?");
  const search = [own, query].filter((part) => part !== "").join("&");
  const url = `${target.baseUrl}${path}/${encodeURIComponent(id)}${below}${search === "" ? "" : `?${search}`}`;
  const { apiKey } = target.credential;
  const auth = apiKey === undefined ? {} : Object.fromEntries([quirks.auth(apiKey)]);
  const headers = { accept: "application/json", "accept-encoding": "identity", "user-agent": "spanway", ...auth };
  return { method, url, headers, body: Buffer.alloc(0) };
}

/** `after` and `before` name an item, whose id may have a mark. */
function readQuery(query: URLSearchParams, { method, below }: StoredAction): { query: string; isStream: boolean } {
  const passed = new URLSearchParams(query);
  for (const name of ["after", "before"]) {
    const item = passed.get(name);
    if (item !== null) passed.set(name, removeMark(item).value);
  }
  const isStream = method === "GET" && below === "" && query.get("stream") === "true";
  return { query: passed.toString(), isStream };
}
