import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { ServiceError } from "../domain/errors.ts";
import type { Permission } from "../domain/permissions.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { SpanOrigin } from "../ingest/normalize.ts";
import type { ResponseWriter } from "../http/response-writer.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { TurnQueue } from "../lib/turn-queue.ts";
import { limits } from "../limits.ts";
import type { GatewayMetrics } from "../telemetry/gateway-metrics.ts";
import type { AttemptDeps } from "./attempt.ts";
import type { Budgets } from "./budgets.ts";
import type { AnswerCache } from "./cache/answer-cache.ts";
import { ChatRun } from "./chat-run.ts";
import { recordRefusal, type UnreadCall } from "./record-refusal.ts";
import type { Recorder } from "./recorder.ts";
import type { Router } from "./routing/router.ts";

/** One request for a chat completion, as it came over HTTP. The gateway writes the response and ends it. */
export type ChatCall = {
  origin: SpanOrigin;
  /** What its key may do beside calling. */
  permissions: ReadonlySet<Permission>;
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** Aborted when the caller leaves. */
  signal: AbortSignal;
  /** Milliseconds since the epoch at which the call arrived. */
  startedAtMs: number;
  elapsedMs(): number;
  response: ResponseWriter;
};

export type ChatDeps = AttemptDeps & {
  router: Router;
  budgets: Budgets;
  cache: AnswerCache;
  recorder: Pick<Recorder, "add" | "claim" | "during">;
  prices: PriceBook;
  metrics: GatewayMetrics;
  /** Calls that have just asked their upstream. */
  drafting: Pick<TurnQueue<ChatRun>, "add">;
  /** Upstreams, by base URL, that refuse to be asked for the usage of a stream. */
  usageRefusals: Pick<ExpiringLru<string, true>, "get" | "set">;
};

export type Chat = {
  /** Answers a call, and records it as one span however it ends. @throws ServiceError `unavailable` when it cannot. */
  complete(call: ChatCall): Promise<void>;
  /** Records a call whose body was refused. @throws ServiceError `unavailable` when it cannot. */
  refuse(call: UnreadCall, error: ServiceError): Promise<OutgoingHttpHeaders>;
};

export function createChat(deps: Omit<ChatDeps, "usageRefusals" | "drafting">): Chat {
  const usageRefusals = new ExpiringLru<string, true>({
    maxEntries: limits.upstreamOrigins,
    ttlMs: limits.usageRefusalMs,
    nowMs: deps.now,
  });
  const drafting = new TurnQueue<ChatRun>((runs) => {
    for (const run of runs) run.draftRecord();
  });
  const runDeps: ChatDeps = { ...deps, usageRefusals, drafting };
  return {
    complete: (call) => deps.recorder.during(call.origin.organization_id, () => new ChatRun(runDeps, call).run()),
    refuse: (call, error) => recordRefusal(deps.recorder, "chat", call, error),
  };
}
