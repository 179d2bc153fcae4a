import { createHmac } from "node:crypto";
import { deriveKey } from "../../auth/secret-key.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import type { Secret } from "../../lib/secret.ts";
import type { CacheMetrics } from "../../telemetry/gateway-metrics.ts";
import { customerOf } from "../call/admit-call.ts";
import type { CachedReply } from "../call/operation.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { ParsedChatRequest } from "../chat/read-chat-request.ts";
import { gatewayLimits } from "../limits.ts";
import type { Operation } from "../providers/quirks.ts";
import type { Attempt } from "../routing/plan.ts";
import type { AnswerStore } from "./answer-store.ts";
import { CompletionBuilder } from "./completion-builder.ts";

/** A cache of answers to exactly the same request within one organization. */
export type AnswerCache = {
  /**
   * Undefined for a call that does not use the cache: it is off unless `cache_enabled` is true. A call with
   * `disable_log` may be answered from the cache, but stores nothing in it.
   * @param attempts those of the first model; at most `cacheKeysPerCall` of them are looked up
   */
  begin(call: CacheableCall, attempts: readonly Attempt[]): CallCache | undefined;
};

export type AnswerCacheDeps = {
  store: AnswerStore;
  /** The instance's secret key. */
  secretKey: Secret;
  metrics: Pick<CacheMetrics, "lookups" | "skipped">;
  now: () => number;
};

export function createAnswerCache(deps: AnswerCacheDeps): AnswerCache {
  const secret = deriveKey(deps.secretKey, "answer keys");
  return {
    begin(call, attempts) {
      const { cache_enabled: isEnabled, cache_ttl: ttlS } = call.request.params;
      if (isEnabled !== true || ttlS === 0) return undefined;
      const ttlMs =
        ttlS === undefined ? gatewayLimits.cacheTtlDefaultMs : Math.min(ttlS * 1e3, gatewayLimits.cacheTtlMaxMs);
      return new CallCache(deps, { call, attempts, ttlMs, keyOf: answerKeys(secret, call) });
    },
  };
}

/** Finish reasons of a complete answer; each provider has its own words for others. */
const completeReasons: ReadonlySet<unknown> = new Set(["stop", "tool_calls", "function_call", "eos"]);

type CallParts = {
  call: CacheableCall;
  attempts: readonly Attempt[];
  ttlMs: number;
  keyOf: (attempt: Attempt) => string;
};

/** The cache as one call uses it: looks up the answer, and stores a new one. */
export class CallCache {
  readonly #deps: AnswerCacheDeps;
  readonly #parts: CallParts;
  #builder: CompletionBuilder | undefined;

  constructor(deps: AnswerCacheDeps, parts: CallParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** The cached answer of the first model, no older than the call's `cache_ttl`. Never rejects. */
  async find(): Promise<CachedReply | undefined> {
    const { attempts, ttlMs, keyOf } = this.#parts;
    const { store, metrics, now } = this.#deps;
    // The call may use any of these credentials.
    const keys = [...new Set(attempts.slice(0, gatewayLimits.cacheKeysPerCall).map(keyOf))];
    const found = await store.find(keys, now() - ttlMs);
    const parsed = found && parseJson(found.answer.body);
    const value = parsed?.ok === true && isObject(parsed.value) ? parsed.value : undefined;
    metrics.lookups.inc({ outcome: value === undefined ? "miss" : "hit" });
    if (found === undefined || value === undefined) return undefined;
    const { body: bytes, provider, model, adjusted } = found.answer;
    return { reply: { headers: {}, bytes, value }, key: found.key, provider, model, adjusted };
  }

  keyOf(attempt: Attempt): string {
    return this.#parts.keyOf(attempt);
  }

  /** Also collects the chunks that are added to the digest of a new stream. */
  watch(digest: ChatDigest): ChatDigest {
    const builder = new CompletionBuilder(gatewayLimits.cacheEntryBytes);
    this.#builder = builder;
    const { addText: _addText, ...rest } = digest;
    return {
      ...rest,
      add(chunk) {
        builder.add(chunk);
        return digest.add(chunk);
      },
    };
  }

  /**
   * Stores a complete answer of an attempt, under the key of that attempt.
   * @param reply undefined after a stream
   */
  keep(
    { target, ...attempt }: Attempt,
    reply: { bytes: Buffer | undefined; completion: Record<string, unknown> } | undefined,
    adjusted: readonly string[],
  ): void {
    const { store, metrics, now } = this.#deps;
    // Content that must not be recorded is not cached either.
    if (this.#parts.call.request.params.disable_log === true) return;
    const completion = reply === undefined ? this.#builder?.build() : reply.completion;
    if (this.#builder?.isTooLarge === true) metrics.skipped.inc({ reason: "too_large" });
    if (completion === undefined || !this.#isWhole(completion)) return;
    const body = reply?.bytes ?? Buffer.from(JSON.stringify(completion));
    if (body.length > gatewayLimits.cacheEntryBytes) {
      metrics.skipped.inc({ reason: "too_large" });
      return;
    }
    const { provider, model } = target;
    store.keep(
      this.#parts.keyOf({ target, ...attempt }),
      { body, provider, model, adjusted, keptAtMs: now() },
      this.#parts.ttlMs,
    );
  }

  /** Whether all requested choices are present and ended normally. */
  #isWhole({ choices }: Record<string, unknown>): boolean {
    const { n } = this.#parts.call.request.body.members;
    if (!Array.isArray(choices) || choices.length < (typeof n === "number" ? n : 1)) return false;
    return (choices as unknown[]).every(
      (choice) => isObject(choice) && isObject(choice["message"]) && completeReasons.has(choice["finish_reason"]),
    );
  }
}

/** A call whose answer may be cached. */
export type CacheableCall = {
  origin: Pick<SpanOrigin, "organization_id" | "environment">;
  operation: Operation;
  request: Pick<ParsedChatRequest, "body" | "params"> & Partial<Pick<ParsedChatRequest, "anthropicBetas">>;
};

/**
 * Members that affect how an answer is delivered, not its content; and the model, for which the resolved name counts.
 */
const besideTheAnswer: ReadonlySet<string> = new Set(["model", "stream", "stream_options"]);

/**
 * Creates the cache keys of one call, one for each upstream that may answer it. Calls share a key if they are of the
 * same organization and environment, send the same to the same model at the same address with the same credential, and
 * agree in everything else that shapes the answer: every member of the body except our own and those about delivery.
 * @param secret makes keys reveal nothing of their input to readers of spans or of the shared cache
 */
export function answerKeys(secret: Uint8Array, call: CacheableCall): (attempt: Attempt) => string {
  const { body, params, anthropicBetas = [] } = call.request;
  const shape = Object.entries(body.forProvider).filter(([name]) => !besideTheAnswer.has(name));
  const { cache_by_customer: byCustomer, is_cached_by_model: byModel } = params.cache_options ?? {};
  const requestDigest = digest(
    secret,
    canonicalJson([
      call.origin.organization_id,
      call.origin.environment,
      call.operation,
      Object.fromEntries(shape),
      params.variables ?? null,
      byCustomer === true ? [customerOf(params) ?? null] : null,
      ...(anthropicBetas.length > 0 ? [[...anthropicBetas]] : []),
    ]),
  );
  return ({ target }) => {
    const { provider, model, baseUrl, credential } = target;
    const { apiKey = null, fields } = credential;
    // The credential is part of the key, so that nobody gets an answer that their own credential could not have
    // produced.
    return digest(
      secret,
      canonicalJson([requestDigest, provider, baseUrl, byModel === false ? null : [model], apiKey, { ...fields }]),
    );
  };
}

function digest(secret: Uint8Array, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}
