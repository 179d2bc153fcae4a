import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/**
 * The port of a provider whose wire is not OpenAI's. Everything here is pure: values and bytes in, values and bytes out;
 * no network, no environment, no clock, no framework. The gateway makes the call, minds time and retries, and writes the
 * record; a translator only says what to send and what came back.
 */
export type ChatTranslator = {
  /**
   * The call to make for one chat completion.
   * @param nowMs milliseconds since the epoch, for signatures that are dated
   * @throws ServiceError `invalid_request` naming the parameter that this provider cannot be asked for.
   */
  request(chat: ChatRequest, target: Target, nowMs: number): UpstreamCall;
  /** A whole 2xx reply as a chat completion. Throws `BadReply` where the bytes are not one. */
  reply(bytes: Buffer, call: CallFacts): ChatCompletion;
  /** A state machine for the stream of one call. */
  stream(call: CallFacts): ChatStreamTranslator;
  /** What a reply with another status than 2xx says. Never throws, whatever the bytes. */
  problem(status: number, headers: IncomingHttpHeaders, bytes: Buffer): UpstreamProblem;
  /** Operations of the provider's own API that are passed on to it as they come. */
  relays?: ReadonlySet<RelayedOperation>;
};

/** `POST /v1/messages` and `/v1/messages/count_tokens` of Anthropic's API. */
export type RelayedOperation = "messages" | "count_tokens";

export type ChatStreamTranslator = {
  /** Takes bytes as they came, cut anywhere, and gives the chunks that they complete. */
  push(bytes: Buffer): StreamStep;
  /** The upstream closed. A stream that was not complete ends in a problem, never in an invented finish. */
  end(): StreamStep;
  /** What the provider has said of the usage so far, for the record of a stream that breaks. */
  usage?(): ChatUsage | undefined;
};

export type StreamStep = {
  /** In order. Usage, where known, is on the last one, whose `choices` is empty. */
  chunks: ChatChunk[];
  /** The stream failed: no chunk follows. */
  problem?: UpstreamProblem;
  /** The stream is complete: a finish was seen and nothing more will come. */
  isDone?: boolean;
};

/** The body of a chat completion without service parameters: OpenAI's members, and whatever else the caller sent. */
export type ChatRequest = { model: string; messages: unknown[]; stream?: boolean } & Record<string, unknown>;

/** Where one attempt goes. `model` is the provider's own name of it, `baseUrl` has no trailing slash. */
export type Target = {
  provider: string;
  model: string;
  baseUrl: string;
  credential: Credential;
};

/** What authorises a call. `apiKey` is absent where `fields` does it (Bedrock: access_key_id, secret_access_key, session_token, region). */
export type Credential = {
  apiKey?: string;
  /** Provider-specific members, as stored or sent by the caller: api_version, region, project … */
  fields: Readonly<Record<string, string>>;
};

export type UpstreamCall = {
  method: "POST" | "GET" | "DELETE";
  url: string;
  /** Lower-case names. Never a header of the caller. */
  headers: Record<string, string>;
  body: Buffer;
  /** Parameters of the caller that this provider has no match for and that were left out or changed, so that it can be told. */
  adjusted?: readonly string[];
};

/** What translators may say of the call in their answers. */
export type CallFacts = {
  /** The model as the caller named it. */
  model: string;
  /** The id of the completion where the provider has none. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
};

/**
 * Why an upstream did not answer.
 * - `request`: the caller's request is at fault (400, 404, 413, 422); another model may still take it, a retry will not.
 * - `credential`: our key is bad, out of money or forbidden (401, 402, 403, and 400 "credit balance is too low").
 * - `busy`: rate limited or overloaded (408, 409, 429, 503, 529).
 * - `fault`: everything else.
 */
export type UpstreamProblem = {
  kind: "request" | "credential" | "busy" | "fault";
  /** The upstream's status; 200 for an error that came inside a stream. */
  status: number;
  /** The upstream's own words, free of secrets. */
  message: string;
  /** The upstream's own words for type, parameter and code, where it has them. */
  type?: string;
  param?: string;
  code?: string;
  /** Milliseconds that the upstream asks to wait, from whichever header says so. */
  retryAfterMs?: number;
  /** The request was refused here, before anything was sent: it says nothing of the upstream or of its credential. */
  isUnsent?: boolean;
  /** It broke off rather than say that it failed: what had been done until then is paid for. */
  isCut?: boolean;
  /** What it counted all the same, for good: it is paid for. */
  usage?: Record<string, unknown>;
  /** The answer itself, for callers who speak the upstream's own API; absent where it holds a secret. */
  answer?: { text: string; headers: OutgoingHttpHeaders };
};

/** Thrown by `reply` for bytes that are no reply: the call failed, although the status was 2xx. */
export class BadReply extends Error {
  /** What the reply counted all the same. */
  readonly usage: Record<string, unknown> | undefined;

  constructor(message: string, usage?: Record<string, unknown>) {
    super(message);
    this.name = "BadReply";
    this.usage = usage;
  }
}

/** OpenAI's usage, inclusive: `prompt_tokens` holds cached tokens, `completion_tokens` holds reasoning. */
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
  /** Anthropic's names of the same, and the part of the writes that lives for an hour. */
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
  cache_creation?: { ephemeral_5m_input_tokens?: number; ephemeral_1h_input_tokens?: number };
  /** What is charged beside tokens, and the tier that served the call: both by Anthropic's names. */
  server_tool_use?: { web_search_requests: number };
  service_tier?: string;
  /** Where Anthropic served the call: it has a price of its own. */
  inference_geo?: string;
};

/** Parts of a count that are no text. */
export type ModalityTokens = { audio_tokens?: number; image_tokens?: number; video_tokens?: number };

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export type ToolCall = {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: ExtraContent;
};

/** What a Gemini wants back with its own call or image in the next turn, where Google's OpenAI-compatible API has it. */
export type ExtraContent = { google: { thought_signature: string } };

/** A page of the web that an answer cites, as OpenAI has it. Where: characters of the content. */
export type UrlCitation = {
  type: "url_citation";
  url_citation: { url: string; title: string; start_index: number; end_index: number };
};

/** An image that a model drew, as OpenRouter has it: in `images` of the message, the bytes as a data: URL. */
export type DrawnImage = { type: "image_url"; image_url: { url: string }; extra_content?: ExtraContent };

export type ChatMessage = {
  role: "assistant";
  content: string | null;
  refusal?: string | null;
  tool_calls?: ToolCall[];
  /** Readable reasoning, as DeepSeek, OpenRouter and vLLM name it. */
  reasoning_content?: string;
  /** Signed reasoning blocks of Anthropic, to be sent back as they are in the next turn. */
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
    /** `id`, `type` and `name` come once, with the first delta of a call. */
    id?: string;
    type?: "function";
    function: { name?: string; arguments: string };
    extra_content?: ExtraContent;
  }>;
  reasoning_content?: string;
  /** Whole blocks, never parts of one: those of all chunks, in order, are those of the message. */
  thinking_blocks?: unknown[];
  /** Whole images, each in one chunk. */
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
