import type { Environment } from "../../domain/principal.ts";
import type { ChatTranslator, Target, UpstreamProblem } from "../providers/provider.ts";
import type { Operation, Quirks } from "../providers/quirks.ts";

/** A call as the router sees it. */
export type RoutedCall = {
  organizationId: string;
  /** The environment of the caller's key. */
  environment: Environment;
  /** The name that the caller sent; "" if only `models` or a load balancing group names a model. */
  model: string;
  params: RoutingParams;
  /** The header X-Svc-Route-Provider. */
  routeProvider?: string | undefined;
  betas: ReadonlySet<string>;
  operation: Operation;
  /** The key mark of the provider key that the call must use, because of what `param` refers to. */
  keyMark?: { value: string; param: string } | undefined;
};

/** The service parameters that routing reads, already validated. Times are in seconds. */
export type RoutingParams = {
  fallback_models?: readonly string[] | undefined;
  disable_fallback?: boolean | undefined;
  load_balance_group?: { group_id?: string | undefined; models?: readonly WeightedModel[] | undefined } | undefined;
  load_balance_models?: readonly WeightedModel[] | undefined;
  models?: readonly string[] | undefined;
  exclude_providers?: readonly string[] | undefined;
  exclude_models?: readonly string[] | undefined;
  model_name_map?: Readonly<Record<string, string>> | undefined;
  retry_params?:
    | { retry_enabled: boolean; num_retries?: number | undefined; retry_after?: number | undefined }
    | undefined;
  retries?: number | undefined;
  customer_credentials?: CredentialsByName | readonly WeightedCredentials[] | undefined;
  credential_override?: CredentialsByName | undefined;
};

export type WeightedModel = {
  model: string;
  weight?: number | undefined;
  credentials?: Readonly<Record<string, unknown>> | undefined;
};

/** `{openai: {api_key, …}}`, by provider or, for an override, by model. */
export type CredentialsByName = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type WeightedCredentials = {
  credentials: CredentialsByName;
  weight?: number | undefined;
  available_models?: readonly string[] | undefined;
  exclude_models?: readonly string[] | undefined;
};

/** One request to one upstream with one credential. */
export type Attempt = {
  /** The name that led here: the caller's `model`, a fallback or a member of a group. */
  model: string;
  target: Target;
  /** Undefined if the upstream speaks OpenAI's wire format. */
  translator: ChatTranslator | undefined;
  quirks: Quirks;
  /** Identifies the credential with organization and model in the cool-down. Reveals no part of a secret. */
  credentialId: string;
  /**
   * Identifies the organization's key, on every node and permanently. "" if the operation has no key marks.
   */
  keyMark: string;
  /** The caller set the address in this request: only the caller's own key may be sent to it. */
  isCallerHost: boolean;
  /** The operator of the server set the address: it may be private. */
  isOperatorHost: boolean;
};

/**
 * How an attempt ended for its credential. `started`: the first content arrived, the end is still open. `aborted` says
 * nothing about the upstream: the client disconnected.
 */
export type Outcome = "started" | "success" | "aborted" | UpstreamProblem;

export type PlanStep = {
  attempt: Attempt;
  waitedMs: number;
  /** How many other models may still be tried after it. */
  furtherModels: number;
  /**
   * Milliseconds within which its response must begin, so that each further model can still be tried; Infinity if there
   * is none.
   */
  roomMs: number;
};

/** The attempts of one call, in sequence: at most `(retries + 1) × models`, none started after the deadline. */
export type Plan = {
  /** Every model that may be tried, in order. */
  models: readonly string[];
  /** Whether similar calls may use several keys, so that ids of what one key created must name that key. */
  hasManyKeys: boolean;
  /**
   * The possible attempts for the first of these models. Any of them may have produced a cached answer to the same
   * request.
   */
  first: readonly Attempt[];
  /**
   * The attempt to make now: the first, or the next after one that ended in `problem`. All waits are already over:
   * back-off, `Retry-After` and the cool-down of its credential. Undefined: give up, and respond with `problem()`.
   * @throws the signal's reason if the client disconnects meanwhile
   */
  next(problem?: UpstreamProblem): PlanStep | undefined | Promise<PlanStep | undefined>;
  /**
   * The problem to respond with after giving up: the first that was not the request's fault, or the first refusal if
   * every model refused the request.
   * @param last the problem of the last attempt, if `next` was not called with it
   */
  problem(last?: UpstreamProblem): UpstreamProblem;
  /**
   * Reports once, as soon as it is known, how the attempt ended; and before that `started`, if its response comes in
   * pieces. `next` reports the problem that it receives.
   */
  report(attempt: Attempt, outcome: Outcome): void;
};

/** What routing knows about a provider. */
export type ProviderEntry = {
  translator: ChatTranslator | undefined;
  quirks: Quirks;
  /**
   * The vendor's own address, or how to derive it from a credential. "" for a provider inside this process. Undefined
   * if a credential must name it.
   */
  baseUrl: Quirks["baseUrl"];
};
