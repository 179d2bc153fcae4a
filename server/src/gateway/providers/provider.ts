import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/**
 * The port of a provider whose wire format is not OpenAI's. Everything here is pure: values and bytes in, values and
 * bytes out; no network, no environment, no clock, no framework. The gateway makes the call, enforces timeouts,
 * retries, and writes the record; a translator only converts requests and responses.
 */
export type ChatTranslator = {
  /**
   * The call for one chat completion.
   * @param nowMs milliseconds since the epoch, for signatures with a date
   * @throws ServiceError `invalid_request` naming the parameter that this provider does not support
   */
  request(chat: ChatRequest, target: Target, nowMs: number): UpstreamCall;
  /** Converts a complete 2xx response to a chat completion. Throws `BadReply` if the bytes are not one. */
  reply(bytes: Buffer, call: CallFacts): ChatCompletion;
  /** A state machine for the stream of one call. */
  stream(call: CallFacts): ChatStreamTranslator;
  /** Reads a response with a status other than 2xx. Never throws, whatever the bytes. */
  problem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem;
  /** Operations of the provider's own API that are passed on to it unchanged. */
  relays?: ReadonlySet<RelayedOperation>;
};

/** `POST /v1/messages` and `/v1/messages/count_tokens` of Anthropic's API. */
export type RelayedOperation = "messages" | "count_tokens";

export type ChatStreamTranslator = {
  /** Takes bytes, split anywhere, and returns the chunks that they complete. */
  push(bytes: Buffer): StreamStep;
  /** Called when the upstream closed. An incomplete stream ends in a problem, never in an invented finish. */
  end(): StreamStep;
  /** The usage reported so far, for the record of a stream that breaks. */
  usage?(): ChatUsage | undefined;
};

export type StreamStep = {
  /** In order. Usage, if known, is on the last one, whose `choices` is empty. */
  chunks: ChatChunk[];
  /** The stream failed: no chunk follows. */
  problem?: UpstreamProblem;
  /** The stream is complete: a finish was seen and nothing more will come. */
  isDone?: boolean;
};

/** The body of a chat completion without service parameters: OpenAI's members, and any others that the caller sent. */
export type ChatRequest = { model: string; messages: unknown[]; stream?: boolean } & Record<string, unknown>;

/** The target of one attempt. `model` is the provider's own name for it, `baseUrl` has no trailing slash. */
export type Target = {
  provider: string;
  model: string;
  baseUrl: string;
  credential: Credential;
};

/**
 * The credential of a call. `apiKey` is absent if `fields` authenticate (Bedrock: access_key_id, secret_access_key,
 * session_token, region).
 */
export type Credential = {
  apiKey?: string;
  /** Provider-specific members, as stored or as sent by the caller: api_version, region, project … */
  fields: Readonly<Record<string, string>>;
};

export type UpstreamCall = {
  method: "POST" | "GET" | "DELETE";
  url: string;
  /** Lower-case names. Never a header of the caller. */
  headers: Record<string, string>;
  body: Buffer;
  /**
   * Parameters of the caller that were omitted or changed because this provider has no counterpart, to be reported to
   * the caller.
   */
  adjusted?: readonly string[];
};

/** Facts of the call that translators put into responses. */
export type CallFacts = {
  /** The model as the caller named it. */
  model: string;
  /** The id of the completion if the provider returns none. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
};

/**
 * Why an upstream did not respond.
 * - `request`: the caller's request is at fault (400, 404, 413, 422); another model may still accept it, a retry will
 *   not help.
 * - `credential`: the credential is invalid, out of money or forbidden (401, 402, 403, and 400 "credit balance is too
 *   low").
 * - `busy`: rate limited or overloaded (408, 409, 429, 503, 529).
 * - `fault`: everything else.
 */
export type UpstreamProblem = {
  kind: "request" | "credential" | "busy" | "fault";
  /** The upstream's status; 200 for an error inside a stream. */
  status: number;
  /** The upstream's own message, without secrets. */
  message: string;
  /** The upstream's own type, parameter and code, if present. */
  type?: string;
  param?: string;
  code?: string;
  /** Milliseconds to wait as requested by the upstream, from whichever header states it. */
  retryAfterMs?: number;
  /** The request was refused here, before anything was sent: it says nothing about the upstream or its credential. */
  isUnsent?: boolean;
  /** The stream broke off without reporting a failure: work done until then is billed. */
  isInterrupted?: boolean;
  /** The final usage that it reported nevertheless: it is billed. */
  usage?: Record<string, unknown>;
  /** The response itself, for callers that use the upstream's own API; absent if it contains a secret. */
  answer?: { text: string; headers: OutgoingHttpHeaders };
};

/** Thrown by `reply` for bytes that are not a response: the call failed, although the status was 2xx. */
export class BadReply extends Error {
  /** The usage that the response reported nevertheless. */
  readonly usage: Record<string, unknown> | undefined;

  constructor(message: string, usage?: Record<string, unknown>) {
    super(message);
    this.name = "BadReply";
    this.usage = usage;
  }
}

/** OpenAI's usage, inclusive: `prompt_tokens` includes cached tokens, `completion_tokens` includes reasoning. */
export type ChatUsage = {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: {
    cached_tokens?: number;
    cache_creation_tokens?: number;
    cached_tokens_details?: ModalityTokens;
  } & ModalityTokens;
  completion_tokens_details?: { reasoning_tokens?: number } & ModalityTokens;
  /** Anthropic's names for the same, and the writes by lifetime. */
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
  cache_creation?: { ephemeral_5m_input_tokens?: number; ephemeral_1h_input_tokens?: number };
  /** Charges besides tokens, and the tier that served the call: both under Anthropic's names. */
  server_tool_use?: { web_search_requests: number };
  service_tier?: string;
  /** The region where Anthropic served the call: it affects the price. */
  inference_geo?: string;
};

/** The parts of a count that are not text. */
export type ModalityTokens = { audio_tokens?: number; image_tokens?: number; video_tokens?: number };

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export type ToolCall = {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: ExtraContent;
};

/**
 * Data that Gemini requires back with its own call or image in the next turn, at the place where Google's
 * OpenAI-compatible API has it.
 */
export type ExtraContent = { google: { thought_signature: string } };

/** A web page that a response cites, in OpenAI's form. Indices are characters of the content. */
export type UrlCitation = {
  type: "url_citation";
  url_citation: { url: string; title: string; start_index: number; end_index: number };
};

/** An image that a model generated, in OpenRouter's form: in `images` of the message, the bytes as a data: URL. */
export type DrawnImage = { type: "image_url"; image_url: { url: string }; extra_content?: ExtraContent };

export type ChatMessage = {
  role: "assistant";
  content: string | null;
  refusal?: string | null;
  tool_calls?: ToolCall[];
  /** Readable reasoning, under the name that DeepSeek, OpenRouter and vLLM use. */
  reasoning_content?: string;
  /** Signed reasoning blocks of Anthropic, to be sent back unchanged in the next turn. */
  thinking_blocks?: unknown[];
  images?: DrawnImage[];
  annotations?: UrlCitation[];
};

export type ChatCompletion = {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: Array<{ index: number; message: ChatMessage; finish_reason: FinishReason; logprobs?: unknown }>;
  usage?: ChatUsage;
};

export type ChatDelta = {
  role?: "assistant";
  content?: string | null;
  refusal?: string | null;
  tool_calls?: Array<{
    index: number;
    /** `id`, `type` and `name` occur once, in the first delta of a call. */
    id?: string;
    type?: "function";
    function: { name?: string; arguments: string };
    extra_content?: ExtraContent;
  }>;
  reasoning_content?: string;
  /** Complete blocks: those of all chunks, in order, are those of the message. */
  thinking_blocks?: unknown[];
  /** Complete images, each in one chunk. */
  images?: DrawnImage[];
  annotations?: UrlCitation[];
};

export type ChatChunk = {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  choices: Array<{ index: number; delta: ChatDelta; finish_reason: FinishReason | null; logprobs?: unknown }>;
  usage?: ChatUsage;
};
