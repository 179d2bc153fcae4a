import { gatewayLimits } from "../../limits.ts";
import type { Credential, UpstreamProblem } from "../provider.ts";
import { redact } from "./redact.ts";

/**
 * Messages by which providers report that a prompt exceeds the model's context. Sources: the error references of the
 * vendors, the source of vLLM, llama.cpp, LM Studio, Ollama and TGI, and public reports.
 */
const overflows: readonly RegExp[] = [
  // OpenAI, Azure, DeepSeek, vLLM and its many hosts, OpenRouter, xAI.
  /context_length_exceeded|maximum (?:context|prompt|model|input) length|max(?:imum)?[_ ]?(?:model|context|input|seq(?:uence)?)[_ ](?:len(?:gth)?|tokens?) (?:is|of|exceeded)/i,
  /(?:exceed\w*|overflow\w*|larger than|longer than|too (?:large|long|big) for|greater than|beyond)\b[^.]{0,80}\bcontext[ _](?:window|length|size|limit)|context[ _](?:window|length|size|limit)[^.]{0,40}\b(?:exceed|overflow|reached|too small)/i,
  // Anthropic, Fireworks; Bedrock; Nova.
  /prompt is too long|input is too long|input (?:length )?and `?max_tokens`? exceed context|too many (?:input|total text) (?:tokens|bytes)|input tokens? exceeded/i,
  // Gemini, Vertex AI, Cohere, TGI, Together, Moonshot.
  /input token count\b[^]{0,40}\b(?:exceeds|but the model only supports)|number of tokens in the prompt cannot exceed|too many tokens: (?:size limit|total number)|`?inputs`? (?:must have less than \d+ tokens|tokens \+ `?max_new_tokens`? must be)|exceeded model token limit|(?:prompt|input) (?:contains|has) \d+ tokens\b[^]{0,60}too large/i,
  // Groq, Cerebras.
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
  // LM Studio, llama.cpp, DashScope, Zhipu.
  /tokens to keep from the initial prompt|available context size|range of input length should be|prompt exceeds max(?:imum)? length|prompt 超长|超过.{0,12}(?:最大|上下文).{0,8}(?:长度|限制)/i,
  // GitHub Models.
  /request body too large for .{1,80} max size: \d+ tokens/i,
];

const overflowCodes = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "exceed_context_size_error",
  "tokens_limit_reached",
  "model_context_window_exceeded",
  "context_length_error",
  "1261",
]);

/** Words in messages about a rate limit, which resemble those about a context overflow. A rate limit can be retried. */
const rateWords = /tokens? per (?:min|day|hour)|\b(?:TPM|TPD|RPM)\b|rate.?limit/i;

/** Messages by which providers report that they filtered a prompt or a response. */
const filters =
  /content (?:management|filtering|filter) policy|content (?:violates|exists risk)|violat\w* .{0,40}content polic|blocked by content|violates? (?:our |the )?(?:usage|content|safety) (?:guidelines|polic)|(?:input|prompt|request|message)s? (?:was|were|has been|is) (?:flagged|blocked|rejected)[^.]{0,60}(?:moderation|safety|risk|polic|sensitive)|requires moderation|(?:data|input|output)_?\s?inspection_?\s?failed|inappropriate content|considered high risk|new_sensitive|sensitive content/i;

const filterCodes = new Set([
  "content_filter",
  "content_policy_violation",
  "moderation_blocked",
  "responsibleaipolicyviolation",
  "data_inspection_failed",
  "datainspectionfailed",
  "1301",
]);

/** 200 stands for an error within a stream. */
const filterStatuses = new Set([200, 400, 403, 422, 451]);

/** Codes that OpenAI uses, which callers get as they are. Others become `content_filter`. */
const openaiFilterCodes = new Set(["content_filter", "content_policy_violation", "moderation_blocked"]);

/** OpenAI's code is reported for every provider. */
const contextOverflowCode = "context_length_exceeded";

/**
 * Classifies a problem by the upstream's message and codes, with one table for all providers, and removes secrets from
 * its texts. A context overflow or a filtered request is about the request, whatever the status: the credential is
 * good, and another model may accept it.
 */
export function understandProblem(problem: UpstreamProblem, credential: Credential): UpstreamProblem {
  const { type, param, code, answer } = problem;
  const clean = (text: string): string => redact(text.slice(0, gatewayLimits.upstreamMessageChars), credential);
  const safe: UpstreamProblem = {
    ...problem,
    message: clean(problem.message),
    ...(type !== undefined && { type: clean(type) }),
    ...(param !== undefined && { param: clean(param) }),
    ...(code !== undefined && { code: clean(code) }),
  };
  if (answer !== undefined && redact(answer.text, credential) !== answer.text) delete safe.answer;
  if (isOverflow(problem)) return { ...safe, kind: "request", code: contextOverflowCode };
  if (!isFiltered(problem)) return safe;
  return { ...safe, kind: "request", code: openaiFilterCodes.has(code ?? "") ? (code ?? "") : "content_filter" };
}

function isOverflow({ kind, status, message, type, code }: UpstreamProblem): boolean {
  if (hasOneOf(overflowCodes, code, type)) return true;
  if (kind === "credential" || status === 429 || status === 404 || status === 0) return false;
  return !rateWords.test(`${code ?? ""} ${message}`) && overflows.some((pattern) => pattern.test(message));
}

function isFiltered({ status, message, type, code }: UpstreamProblem): boolean {
  if (hasOneOf(filterCodes, code, type)) return true;
  return filterStatuses.has(status) && filters.test(message);
}

function hasOneOf(codes: ReadonlySet<string>, ...words: Array<string | undefined>): boolean {
  return words.some((word) => word !== undefined && codes.has(word.toLowerCase()));
}
