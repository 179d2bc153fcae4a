import { createHmac } from "node:crypto";
import { canonicalJson } from "../../lib/canonical-json.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { Operation } from "../providers/quirks.ts";
import type { ChatAsk } from "../chat/read-chat-request.ts";
import type { Attempt } from "../routing/plan.ts";
import { customerOf } from "../call/admit-call.ts";

/** A call whose answer may be kept. */
export type CacheableCall = {
  origin: Pick<SpanOrigin, "organization_id" | "environment">;
  operation: Operation;
  ask: Pick<ChatAsk, "body" | "params"> & Partial<Pick<ChatAsk, "anthropicBetas">>;
};

/** Members of a request that say how an answer is delivered, not what is in it; and the model, of which the resolved one counts. */
const besideTheAnswer: ReadonlySet<string> = new Set(["model", "stream", "stream_options"]);

/**
 * Makes the keys of one call's answers, one for each upstream that may give them. Calls have the same key when they are of the
 * same organisation and environment, ask the same of the same model at the same address with the same credential, and say
 * nothing else that shapes the answer: every member of the body counts but those that are ours, and how it is delivered.
 *
 * @param secret keys say nothing of what went into them, to whoever reads spans or the shared cache
 */
export function answerKeys(secret: Uint8Array, call: CacheableCall): (attempt: Attempt) => string {
  const { body, params, anthropicBetas = [] } = call.ask;
  const shape = Object.entries(body.forProvider).filter(([name]) => !besideTheAnswer.has(name));
  const { cache_by_customer: byCustomer, is_cached_by_model: byModel } = params.cache_options ?? {};
  const asked = digest(
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
    // A credential is never shared, so that nobody gets an answer that his own would not have been given.
    return digest(
      secret,
      canonicalJson([asked, provider, baseUrl, byModel === false ? null : [model], apiKey, { ...fields }]),
    );
  };
}

function digest(secret: Uint8Array, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}
