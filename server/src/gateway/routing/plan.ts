import type { Environment } from "../../domain/principal.ts";
import type { ChatTranslator, Target, UpstreamProblem } from "../providers/provider.ts";
import type { Operation, Quirks } from "../providers/quirks.ts";

/** A call as routing sees it. */
export type RoutedCall = {
  organizationId: string;
  /** That of the key. */
  environment: Environment;
  /** As the caller named it; "" where only `models` or a load balancing group name one. */
  model: string;
  params: RoutingParams;
  /** X-Svc-Route-Provider. */
  routeProvider?: string | undefined;
  betas: ReadonlySet<string>;
  operation: Operation;
  /** The key that the call is bound to, by what it names in `param`. */
  bond?: { value: string; param: string } | undefined;
};

/** The service parameters that routing reads, in the shapes that they were checked for. Seconds. */
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

/** One call of one upstream with one credential. */
export type Attempt = {
  /** The name that led here: the caller's `model`, a fallback's, or that of a group's member. */
  model: string;
  target: Target;
  /** Undefined: the upstream speaks OpenAI's wire. */
  translator: ChatTranslator | undefined;
  quirks: Quirks;
  /** Tells the organisation's credentials and models apart in the cool-down; no part of a secret can be read from it. */
  credentialId: string;
  /** Tells the organization's keys apart, on every node and for good; "" where no call of the operation is bound to one. */
  bond: string;
  /** The caller chose the address in this very request: it gets the caller's own key or none. */
  isCallerHost: boolean;
  /** Whoever runs the server chose the address: it may be private. */
  isOperatorHost: boolean;
};

/**
 * How an attempt ended for the credential that it used. `begun`: its first content is there, how it ends is still open. `aborted` says
 * nothing of the upstream: the client left.
 */
export type Outcome = "begun" | "success" | "aborted" | UpstreamProblem;

export type PlanStep = {
  attempt: Attempt;
  waitedMs: number;
  /** How many other models may still be asked after it. */
  furtherModels: number;
  /** Milliseconds within which it has to begin its answer, so that each of these can still be asked; Infinity where there is none. */
  roomMs: number;
};

/**
 * The attempts of one call, one after the other. At most `(retries + 1) × models` of them, none begun after the deadline.
 */
export type Plan = {
  /** Every model that may be tried, in order. */
  models: readonly string[];
  /** Whether calls like this one may go by several keys, so that what one of them made has to say so. */
  hasManyKeys: boolean;
  /** The attempts that the first of these models may be asked by: who answered the same before may have been any of them. */
  first: readonly Attempt[];
  /**
   * The attempt to make now: the first, or the one after the attempt that ended in `problem`. It has waited already, as long as
   * back-off, `Retry-After` and the cool-down of its credential ask. Undefined: give up, and answer `problem()`.
   * @throws the signal's reason when the client leaves meanwhile.
   */
  next(problem?: UpstreamProblem): PlanStep | undefined | Promise<PlanStep | undefined>;
  /**
   * The problem to answer with after giving up: the first that was no fault of the request; where every model refused the request,
   * the first refusal.
   * @param last that of the last attempt, where `next` was not told of it
   */
  problem(last?: UpstreamProblem): UpstreamProblem;
  /**
   * How the attempt ended, once, as soon as it is known, and before that `begun` for one whose answer comes in pieces. `next` does it
   * for the problem that it is given.
   */
  report(attempt: Attempt, outcome: Outcome): void;
};

/** What routing knows of a provider. */
export type ProviderEntry = {
  translator: ChatTranslator | undefined;
  quirks: Quirks;
  /**
   * The vendor's own address, or how it follows from a credential; "" for what answers inside this process; undefined where a credential
   * has to name it.
   */
  baseUrl: Quirks["baseUrl"];
};
