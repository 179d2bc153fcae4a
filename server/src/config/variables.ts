import type { Secret } from "../lib/secret.ts";
import { authLimits } from "../auth/limits.ts";
import { deliveryLimits } from "../delivery/limits.ts";
import { domainLimits } from "../domain/limits.ts";
import { evaluationLimits } from "../evaluation/limits.ts";
import { ingestLimits } from "../ingest/limits.ts";
import { outgoingLimits } from "../outgoing/limits.ts";
import { storageLimits } from "../storage/limits.ts";
import { cacheLocation, controlLocation, spansLocation } from "./locations.ts";
import {
  allowedUpstreams,
  apiKey,
  baseUrl,
  bytes,
  corsOrigins,
  email,
  headerSecret,
  integer,
  oneOf,
  organizationId,
  proxyTrust,
  secret,
  smtpUrl,
  text,
  type Parse,
} from "./parse.ts";

/** One environment variable. `fallback` goes through the same parser; null leaves the setting undefined. */
export type Variable<T> = {
  name: string;
  parse: Parse<T>;
  fallback: string | null;
  description: string;
};

const perMinuteMax = 1_000_000_000;

/** Placeholder for the value of SPANWAY_DATA_DIR in a fallback. */
export const dataDirToken = "<SPANWAY_DATA_DIR>";

/** Every variable that the server reads. A test keeps `docs/configuration.md` in line with this table. */
export const variables = {
  host: variable("SPANWAY_HOST", text, "127.0.0.1", "Address to listen on."),
  port: variable("SPANWAY_PORT", integer(0, 65_535), "8787", "Port to listen on; 0 takes any free one."),
  publicUrl: variable("SPANWAY_PUBLIC_URL", baseUrl, null, "Address under which clients reach the server."),
  corsOrigins: variable("SPANWAY_CORS_ORIGINS", corsOrigins, null, "Web pages that may call, by their origins."),
  trustProxy: variable("SPANWAY_TRUST_PROXY", proxyTrust, "false", "Proxies whose X-Forwarded-… headers are believed."),
  dataDir: variable(
    "SPANWAY_DATA_DIR",
    text,
    "./data",
    "Folder of the embedded stores, the journal and the secret key.",
  ),
  spans: variable("SPANWAY_SPANS_URL", spansLocation, `chdb:${dataDirToken}/spans`, "Store of spans."),
  insertMs: variable(
    "SPANWAY_INSERT_MS",
    integer(10, 60_000),
    null,
    "Milliseconds for which spans wait to be stored together.",
  ),
  insertRows: variable(
    "SPANWAY_INSERT_ROWS",
    integer(1, 1_000_000),
    String(ingestLimits.writerGroupRows),
    "Most spans that are stored in one insert.",
  ),
  control: variable(
    "SPANWAY_CONTROL_URL",
    controlLocation,
    `sqlite:${dataDirToken}/control.db`,
    "Store of organizations, users and keys.",
  ),
  controlWaitS: variable(
    "SPANWAY_CONTROL_WAIT_SECONDS",
    integer(0, 3_600),
    "60",
    "Seconds for which a start waits for a Postgres that does not answer.",
  ),
  drainS: variable(
    "SPANWAY_DRAIN_SECONDS",
    integer(0, 600),
    "0",
    "Seconds between SIGTERM and the end of listening, in which /readyz is 503.",
  ),
  staleS: variable(
    "SPANWAY_STALE_SECONDS",
    integer(0, 86_400),
    "600",
    "Seconds for which keys, provider settings and budgets are used as last known while the control store does not answer.",
  ),
  cache: variable("SPANWAY_CACHE_URL", cacheLocation, "memory:", "Shared counters and response cache."),
  secretKey: variable("SPANWAY_SECRET_KEY", secret(16), null, "Signs tokens and encrypts stored credentials."),
  organizationId: variable("SPANWAY_ORGANIZATION_ID", organizationId, null, "Public id of the first organization."),
  prodKey: variable("SPANWAY_PROD_KEY", apiKey, null, "First API key of the prod environment."),
  testKey: variable("SPANWAY_TEST_KEY", apiKey, null, "First API key of the test environment."),
  adminEmail: variable("SPANWAY_ADMIN_EMAIL", email, null, "E-mail address of the first user."),
  adminPassword: variable(
    "SPANWAY_ADMIN_PASSWORD",
    secret(domainLimits.passwordCharsMin),
    null,
    "Password of the first user.",
  ),
  sessionIdleHours: variable(
    "SPANWAY_SESSION_IDLE_HOURS",
    integer(1, 24 * 90),
    String(authLimits.browserSessionIdleMs / 3_600_000),
    "Hours without a request after which a browser has to sign in again.",
  ),
  sessionMaxDays: variable(
    "SPANWAY_SESSION_MAX_DAYS",
    integer(1, 365),
    String(authLimits.browserSessionMs / 86_400_000),
    "Days after which a browser has to sign in again in any case.",
  ),
  bulkCreatePerMinute: perMinute("SPANWAY_BULK_CREATE_PER_MINUTE", "30", "Bulk span requests per organization."),
  bulkDeletePerMinute: perMinute("SPANWAY_BULK_DELETE_PER_MINUTE", "10", "Bulk deletions per organization and path."),
  publicTracePerMinute: perMinute("SPANWAY_PUBLIC_TRACE_PER_MINUTE", "60", "Reads of shared traces per address."),
  automationDailyBudget: variable(
    "SPANWAY_AUTOMATION_DAILY_BUDGET",
    integer(0, 1_000_000),
    String(evaluationLimits.automationDailyBudgetUsd),
    "USD per UTC day that the model judges of one automation may cost, unless the automation sets its own limit.",
  ),
  evaluatorCpuMs: variable(
    "SPANWAY_EVALUATOR_CPU_MS",
    integer(10, 60_000),
    String(evaluationLimits.sandboxMs),
    "Milliseconds of CPU time that code or a rule may take to evaluate one log.",
  ),
  apiPerMinute: perMinute(
    "SPANWAY_API_PER_MINUTE",
    "0",
    "Requests except those for spans and calls: traces, customers, automations, keys and so on.",
  ),
  journalBytes: variable(
    "SPANWAY_JOURNAL_MAX_BYTES",
    bytes(2 ** 20),
    String(storageLimits.journalBytes),
    "Bytes the journal may hold.",
  ),
  retentionDays: variable(
    "SPANWAY_RETENTION_DAYS",
    integer(0, domainLimits.retentionDaysMax),
    "0",
    "Days for which spans are kept; 0 keeps them forever.",
  ),
  traceQuietS: variable(
    "SPANWAY_TRACE_QUIET_SECONDS",
    integer(1, deliveryLimits.traceQuietSMax),
    "30",
    "Seconds without a new span after which a trace counts as complete.",
  ),
  smtpUrl: variable("SPANWAY_SMTP_URL", smtpUrl, null, "Mail server that sends alerts by e-mail."),
  smtpFrom: variable("SPANWAY_SMTP_FROM", email, "spanway@localhost", "Address that these e-mails come from."),
  logLevel: variable(
    "SPANWAY_LOG_LEVEL",
    oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
    "info",
    "Least severe level that is logged. On a terminal, requests that succeed are logged at debug, elsewhere at info.",
  ),
  allowPrivateUpstreams: variable(
    "SPANWAY_ALLOW_PRIVATE_UPSTREAMS",
    allowedUpstreams,
    "",
    "Private addresses the gateway may call.",
  ),
  upstreamFirstByteMs: upstreamMs(
    "FIRST_BYTE",
    "600000",
    "Time to the first content of a provider's response; bytes that only keep the connection alive do not count.",
  ),
  upstreamIdleMs: upstreamMs(
    "IDLE",
    "60000",
    "Time between two pieces of a provider's response after its first content.",
  ),
  upstreamTotalMs: upstreamMs("TOTAL", "1800000", "Total time of a call, over all its attempts."),
  streamCommentMs: variable(
    "SPANWAY_STREAM_COMMENT_MS",
    integer(10, outgoingLimits.upstreamMsMax),
    "15000",
    "Milliseconds of silence after which a stream to a caller gets a comment.",
  ),
};

/** Providers whose credentials the environment may contain, by the prefix of their variables. */
export const providers = {
  openai: "OPENAI",
  anthropic: "ANTHROPIC",
  gemini: "GEMINI",
  azure: "AZURE_OPENAI",
  bedrock: "BEDROCK",
  groq: "GROQ",
  together: "TOGETHER",
  fireworks: "FIREWORKS",
  deepseek: "DEEPSEEK",
  mistral: "MISTRAL",
  xai: "XAI",
  openrouter: "OPENROUTER",
  perplexity: "PERPLEXITY",
  cerebras: "CEREBRAS",
  moonshot: "MOONSHOT",
  dashscope: "DASHSCOPE",
  zhipu: "ZHIPU",
  minimax: "MINIMAX",
  cohere: "COHERE",
  nvidia: "NVIDIA",
  huggingface: "HUGGINGFACE",
  sambanova: "SAMBANOVA",
  cloudflare: "CLOUDFLARE",
  github: "GITHUB_MODELS",
  deepinfra: "DEEPINFRA",
  nebius: "NEBIUS",
  novita: "NOVITA",
  hyperbolic: "HYPERBOLIC",
  baseten: "BASETEN",
  databricks: "DATABRICKS",
  ollama: "OLLAMA",
  vllm: "VLLM",
  lmstudio: "LMSTUDIO",
  llamacpp: "LLAMACPP",
} as const;
export type ProviderName = keyof typeof providers;

/** The variable of each provider's key. */
export const keyVariables: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(providers).map(([name, prefix]) => [name, `${prefix}_API_KEY`]),
);

/** Variables of the documented commands and the editor hook: a server started in the same shell gets them too. */
export const clientVariables: readonly string[] = [
  "SPANWAY_URL",
  "SPANWAY_API_KEY",
  "SPANWAY_BASE_URL",
  "SPANWAY_HOOK_DEBUG",
  "SPANWAY_HOOK_STATE_DIR",
];

/** What some providers need besides a key, by the member of a credential. */
export const providerFields: { readonly [K in ProviderName]?: Readonly<Record<string, Variable<Secret>>> } = {
  azure: { api_version: credentialPart("AZURE_OPENAI_API_VERSION", "Version of Azure's API.") },
  bedrock: {
    access_key_id: credentialPart("AWS_ACCESS_KEY_ID", "Id of the AWS key for Bedrock."),
    secret_access_key: credentialPart("AWS_SECRET_ACCESS_KEY", "The AWS key for Bedrock."),
    session_token: credentialPart("AWS_SESSION_TOKEN", "Session of a temporary AWS key."),
    region: credentialPart("AWS_REGION", "AWS region of Bedrock."),
  },
  cloudflare: { account_id: credentialPart("CLOUDFLARE_ACCOUNT_ID", "Id of the Cloudflare account.") },
};

export type ProviderVariables = { apiKey: Variable<Secret>; baseUrl: Variable<string> };

export function providerVariables(prefix: string): ProviderVariables {
  return {
    apiKey: variable(`${prefix}_API_KEY`, headerSecret, null, "Key sent to the provider."),
    baseUrl: variable(`${prefix}_BASE_URL`, baseUrl, null, "Address called instead of the provider's own."),
  };
}

function credentialPart(name: string, description: string): Variable<Secret> {
  return variable(name, headerSecret, null, description);
}

function variable<T, const F extends string | null>(name: string, parse: Parse<T>, fallback: F, description: string) {
  return { name, parse, fallback, description };
}

function upstreamMs<const F extends string>(name: string, fallback: F, what: string) {
  return variable(
    `SPANWAY_UPSTREAM_${name}_MS`,
    integer(1, outgoingLimits.upstreamMsMax),
    fallback,
    `${what} Milliseconds.`,
  );
}

function perMinute<const F extends string>(name: string, fallback: F, what: string) {
  return variable(name, integer(0, perMinuteMax), fallback, `${what} A minute; 0 is off.`);
}
