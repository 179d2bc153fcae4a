import { createHmac } from "node:crypto";
import { canonicalJson } from "../../lib/canonical-json.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { Operation } from "../providers/quirks.ts";
import type { ParsedChatRequest } from "../chat/read-chat-request.ts";
import type { Attempt } from "../routing/plan.ts";
import { customerOf } from "../call/admit-call.ts";

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
