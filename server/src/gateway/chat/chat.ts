import { formatUuid } from "../../domain/identity.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { gatewayLimits } from "../limits.ts";
import { outgoingLimits } from "../../outgoing/limits.ts";
import type { AnswerCache, CallCache } from "../cache/answer-cache.ts";
import { applyParams, type CallLedger } from "../call/call-ledger.ts";
import { createChatReader } from "./chat-reader.ts";
import type { CallOperation, CallRequest, GatewayCall, WholeReply } from "../call/operation.ts";
import { echo } from "../providers/echo/echo.ts";
import { openaiCall } from "../providers/openai/request.ts";
import type { CallFacts, ChatRequest, Target, UpstreamProblem } from "../providers/provider.ts";
import { readChatRequest, readMembers, withoutServiceParams, type ParsedChatRequest } from "./read-chat-request.ts";
import type { Attempt } from "../routing/plan.ts";
import { readServiceParams } from "../request/service-params.ts";

export type ChatDeps = { cache: AnswerCache; now: () => number };

/** Base URLs of upstreams that refuse `stream_options`. */
type UsageRefusals = Pick<ExpiringLru<string, true>, "get" | "set">;

/** Chat completions, in OpenAI's form for every provider. */
export function createChat({ cache, now }: ChatDeps): CallOperation {
  const usageRefusals: UsageRefusals = new ExpiringLru<string, true>({
    maxEntries: outgoingLimits.upstreamOrigins,
    ttlMs: gatewayLimits.usageRefusalMs,
    nowMs: now,
  });
  return {
    operation: "chat",
    logType: "chat",
    read(call, ledger) {
      const request = readRequest(call, ledger);
      const factsOf = (model: string): CallFacts => ({
        model,
        id: `chatcmpl-${formatUuid(ledger.identity)}`,
        created: Math.floor(call.startedAtMs / 1000),
      });
      let callCache: CallCache | undefined;
      return {
        ...request,
        members: request.body.forProvider,
        findCached(plan) {
          callCache = cache.begin({ origin: call.origin, request, operation: "chat" }, plan.first);
          return callCache?.find();
        },
        ...callOf(request, usageRefusals, now),
        builtIn: (attempt) => echoReply(request, attempt, factsOf(attempt.model)),
        reader: (how) => createChatReader({ request, ledger, cache: callCache, factsOf }, how),
      };
    },
  };
}

function readRequest(call: GatewayCall, ledger: CallLedger): ParsedChatRequest {
  const { bytes, headers } = call;
  const members = readMembers(bytes);
  const forProvider = withoutServiceParams(members);
  ledger.request = forProvider;
  ledger.stream = members["stream"] === true;
  if (typeof members["model"] === "string") ledger.model = members["model"];
  const params = readServiceParams(members, call);
  applyParams(ledger, params);
  // For cacheable calls the request is rebuilt from the parsed members that the key is made of: another parser might
  // read the original bytes differently.
  const providerMembers = params.cache_enabled === true ? { ...forProvider } : forProvider;
  return readChatRequest({ bytes, members, forProvider: providerMembers }, params, headers);
}

function callOf(
  request: ParsedChatRequest,
  usageRefusals: UsageRefusals,
  now: () => number,
): Required<Pick<CallRequest, "call" | "isCallChanged">> {
  const requestsUsage = ({ target, quirks, translator }: Attempt): boolean =>
    request.isStream &&
    translator === undefined &&
    quirks.streamUsage === "requested" &&
    usageRefusals.get(target.baseUrl) === undefined;
  return {
    call(attempt) {
      const { target, translator, quirks } = attempt;
      if (translator !== undefined) return translator.request(translatedRequest(request, target), target, now());
      return openaiCall(request.body, target, { quirks, operation: "chat", requestsUsage: requestsUsage(attempt) });
    },
    isCallChanged(attempt, problem) {
      if (!isAboutStreamOptions(problem) || !requestsUsage(attempt)) return false;
      usageRefusals.set(attempt.target.baseUrl, true);
      return true;
    },
  };
}

function isAboutStreamOptions({ kind, message, param }: UpstreamProblem): boolean {
  return kind === "request" && /stream_options|include_usage/.test(`${param ?? ""} ${message}`);
}

function translatedRequest({ messages, body, anthropicBetas }: ParsedChatRequest, target: Target): ChatRequest {
  const { anthropic_beta: given } = body.forProvider;
  const betas = [
    ...new Set([...(Array.isArray(given) ? (given as unknown[]) : given ? [given] : []), ...anthropicBetas]),
  ];
  const beta = isClaude(target) && betas.length > 0 ? { anthropic_beta: betas } : {};
  return { ...body.forProvider, ...beta, model: target.model, messages };
}

function isClaude({ provider, model }: Target): boolean {
  return provider === "anthropic" || /claude/.test(model);
}

/** The reply of the built-in model. */
function echoReply(
  { body, messages }: ParsedChatRequest,
  { target }: Attempt,
  facts: CallFacts,
): WholeReply | UpstreamProblem {
  if (target.model !== "echo") {
    const message = `There is no model spanway/${target.model}; the built-in one is spanway/echo.`;
    return { kind: "request", status: 404, message, param: "model" };
  }
  const value = { ...echo({ ...body.forProvider, model: facts.model, messages }, facts) };
  return { headers: {}, bytes: Buffer.alloc(0), value };
}
