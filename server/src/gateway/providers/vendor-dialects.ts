import { type Dialect, mistralMembers, openrouterMembers, samplingMembers, type ToolChoiceForm } from "./dialect.ts";

/** The dialects of the OpenAI-compatible providers, one value each. Comments name the sources. */

const forms = (...list: ToolChoiceForm[]): ReadonlySet<ToolChoiceForm> => new Set(list);
const words = (text: string): readonly string[] => text.split(" ");
const kinds = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/**
 * Reasoning models accept only `max_completion_tokens`, and fixed sampling: platform.openai.com/docs/guides/reasoning.
 */
const openaiModels: Dialect["models"] = [
  [
    /(?:^|\/)(?:o\d|gpt-[5-9]|codex)(?!.*chat)/,
    { renames: { max_tokens: "max_completion_tokens" }, thinkingAs: "reasoning_effort" },
  ],
  [
    /(?:^|\/)(?:o\d|gpt-5(?:-(?:mini|nano|pro|codex))?(?:-\d{4}-\d\d-\d\d)?$)/,
    {
      lacks: [
        "temperature",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "logprobs",
        "top_logprobs",
        "logit_bias",
      ],
    },
  ],
];

/** platform.openai.com/docs/api-reference/chat */
export const openai: Dialect = {
  takes: [],
  lacks: [],
  renames: {},
  bounds: {},
  toolChoices: forms("none", "required", "named", "allowed_tools"),
  formats: new Set(["json_object", "json_schema"]),
  parts: kinds("text refusal image_url input_audio file"),
  history: [],
  isStrict: false,
  messagesLack: [],
  takesDeveloper: true,
  takesCacheMarkers: false,
  alternates: false,
  isMistral: false,
  maxIdChars: 40,
  parsesCalls: false,
  needsReasoning: false,
  models: openaiModels,
};

/** learn.microsoft.com/azure/ai-foundry/openai/reference; unknown members of messages are 400. */
export const azure: Dialect = { ...openai, isStrict: true };

/** Common to the vendors of open models: OpenAI's request without members that only OpenAI computes or stores. */
const vendor: Dialect = {
  ...openai,
  lacks: words(
    "store metadata prediction audio modalities web_search_options verbosity moderation functions function_call " +
      "prompt_cache_key prompt_cache_retention safety_identifier service_tier",
  ),
  renames: { max_completion_tokens: "max_tokens" },
  toolChoices: forms("none", "required", "named"),
  parts: kinds("text image_url"),
  messagesLack: ["refusal", "audio"],
  takesDeveloper: false,
  parsesCalls: true,
  models: [],
};

const without = (...names: string[]): readonly string[] => [...vendor.lacks, ...names];
const but = (...names: string[]): readonly string[] => vendor.lacks.filter((name) => !names.includes(name));

/**
 * Hosts of open models on vLLM or SGLang, which ignore unknown members: DeepInfra, Nebius, Novita, Hyperbolic, Baseten.
 */
export const openModels: Dialect = {
  ...vendor,
  takes: samplingMembers,
  parts: kinds("text image_url video_url input_audio"),
  history: ["reasoning_content"],
};

/** console.groq.com/docs/openai and …/docs/reasoning; freellmapi#1070, ai#8056. */
export const groq: Dialect = {
  ...vendor,
  takes: ["include_reasoning", "reasoning_format", "search_options"],
  lacks: [...but("service_tier"), "logprobs", "top_logprobs", "logit_bias", "n"],
  renames: {},
  isStrict: true,
  messagesLack: [...vendor.messagesLack, "name"],
};

/** docs.together.ai/reference/chat-completions */
export const together: Dialect = { ...openModels, takes: [...samplingMembers, "reasoning"] };

/** docs.fireworks.ai/api-reference/post-chatcompletions */
export const fireworks: Dialect = {
  ...openModels,
  takes: [...samplingMembers, "thinking"],
  lacks: but("service_tier", "metadata", "prediction"),
  isStrict: true,
};

/** api-docs.deepseek.com/api/create-chat-completion and …/guides/thinking_mode */
export const deepseek: Dialect = {
  ...vendor,
  takes: ["thinking"],
  formats: new Set(["json_object"]),
  parts: kinds("text"),
  history: ["reasoning_content", "prefix"],
  needsReasoning: true,
  models: [[/reasoner/, { toolChoices: forms("none") }]],
};

/** docs.mistral.ai/api: unknown members are 422 `extra_forbidden`; eca#231, litellm#30835. */
export const mistral: Dialect = {
  ...vendor,
  takes: [...mistralMembers, "prompt_mode"],
  lacks: [...but("metadata", "prediction"), "logprobs", "top_logprobs", "logit_bias", "user"],
  renames: { max_completion_tokens: "max_tokens", seed: "random_seed" },
  efforts: ["none", "high"],
  parts: kinds("text image_url document_url input_audio thinking"),
  history: ["prefix"],
  isStrict: true,
  messagesLack: [...vendor.messagesLack, "name"],
  isMistral: true,
};

/**
 * docs.x.ai/docs/api-reference: reasoning models refuse penalties and stop; the fourth generation also refuses an
 * effort.
 */
export const xai: Dialect = {
  ...vendor,
  takes: ["search_parameters"],
  lacks: [...but("audio"), "logit_bias"],
  renames: {},
  history: ["reasoning_content"],
  models: [
    [/grok-(?:3-mini|4|code)/, { lacks: without("logit_bias", "presence_penalty", "frequency_penalty", "stop") }],
    [
      /grok-4(?:-0709)?$|grok-4-latest/,
      { lacks: without("logit_bias", "presence_penalty", "frequency_penalty", "stop", "reasoning_effort") },
    ],
  ],
};

/** openrouter.ai/docs/api-reference/parameters and …/guides/best-practices/reasoning-tokens */
export const openrouter: Dialect = {
  ...openai,
  takes: [...openrouterMembers, ...samplingMembers],
  thinkingAs: "reasoning",
  parts: kinds("text refusal image_url input_audio file video_url"),
  history: ["reasoning_content", "reasoning", "reasoning_details", "images", "annotations"],
  takesCacheMarkers: true,
  models: [],
};

/** docs.perplexity.ai/api-reference/chat-completions-post */
export const perplexity: Dialect = {
  ...vendor,
  takes: ["top_k"],
  lacks: [...but("web_search_options"), "n", "logprobs", "top_logprobs", "logit_bias", "tools", "seed", "user"],
  toolChoices: forms(),
  formats: new Set(["json_schema"]),
  parts: kinds("text image_url file_url"),
  isStrict: true,
  alternates: true,
};

/** inference-docs.cerebras.ai/resources/openai: these members are 400. */
export const cerebras: Dialect = {
  ...vendor,
  lacks: without("frequency_penalty", "presence_penalty", "logit_bias"),
  renames: { max_tokens: "max_completion_tokens" },
  parts: kinds("text"),
  isStrict: true,
};

/** platform.moonshot.ai/docs/api/chat: `tool_choice` has no `required`; models that think have fixed sampling. */
export const moonshot: Dialect = {
  ...vendor,
  takes: ["thinking"],
  lacks: [...but("prompt_cache_key", "safety_identifier"), "logprobs", "top_logprobs", "logit_bias"],
  bounds: { temperature: [0, 1] },
  toolChoices: forms("none"),
  parts: kinds("text image_url video_url"),
  history: ["reasoning_content"],
  models: [
    [
      /kimi-k(?:2\.[5-9]|[3-9])/,
      {
        lacks: [
          ...but("prompt_cache_key", "safety_identifier"),
          ...words("logprobs top_logprobs logit_bias temperature top_p n presence_penalty frequency_penalty"),
        ],
        needsReasoning: true,
      },
    ],
    [/thinking/, { needsReasoning: true }],
  ],
};

/** alibabacloud.com/help/model-studio/qwen-api-reference: `tool_choice` is `auto`, `none` or a function. */
export const dashscope: Dialect = {
  ...vendor,
  takes: ["enable_thinking", "thinking_budget", "enable_search", "search_options", "top_k", "repetition_penalty"],
  lacks: [...but("modalities", "audio"), "logit_bias", "user"],
  thinkingAs: "enable_thinking",
  toolChoices: forms("none", "named"),
  parts: kinds("text image_url video_url video input_audio"),
  history: ["reasoning_content"],
  takesCacheMarkers: true,
};

/** docs.z.ai/api-reference/llm/chat-completion: `tool_choice` is only `auto`, a response is JSON or text. */
export const zhipu: Dialect = {
  ...vendor,
  takes: ["thinking", "do_sample", "request_id", "user_id"],
  lacks: without(
    "n",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "parallel_tool_calls",
  ),
  renames: { max_completion_tokens: "max_tokens", user: "user_id" },
  bounds: { temperature: [0, 1], top_p: [0.01, 1] },
  toolChoices: forms(),
  formats: new Set(["json_object"]),
  parts: kinds("text image_url video_url file_url"),
  history: ["reasoning_content"],
};

/** platform.minimax.io/docs/api-reference/text-openai-api: only text, temperature above 0 and at most 1, one choice. */
export const minimax: Dialect = {
  ...vendor,
  takes: ["reasoning_split"],
  lacks: without("n", "logprobs", "top_logprobs", "logit_bias", "presence_penalty", "frequency_penalty"),
  renames: {},
  bounds: { temperature: [0.01, 1] },
  toolChoices: forms("none"),
  parts: kinds("text"),
  history: ["reasoning_content", "reasoning_details"],
};

/** docs.cohere.com/docs/compatibility-api, "Supported parameters" */
export const cohere: Dialect = {
  ...vendor,
  lacks: without("n", "logit_bias", "top_logprobs", "parallel_tool_calls"),
  efforts: ["none", "high"],
  bounds: { frequency_penalty: [0, 1], presence_penalty: [0, 1], temperature: [0, 1] },
  toolChoices: forms("none", "required"),
  isStrict: true,
  messagesLack: [...vendor.messagesLack, "name"],
};

/** docs.api.nvidia.com/nim/reference/llm-apis: unknown members are 422 "Extra inputs are not permitted". */
export const nvidia: Dialect = {
  ...vendor,
  takes: ["chat_template_kwargs", "top_k", "min_tokens"],
  lacks: without("logit_bias", "user"),
  parts: kinds("text image_url video_url input_audio"),
  isStrict: true,
};

/**
 * huggingface.co/docs/inference-providers/tasks/chat-completion: it routes to many providers, so it gets only what all
 * of them accept.
 */
export const huggingface: Dialect = { ...vendor, lacks: without("logit_bias"), isStrict: true };

/** docs.sambanova.ai/docs/en/features/openai-compatibility, "Unsupported features" */
export const sambanova: Dialect = {
  ...vendor,
  takes: ["top_k", "chat_template_kwargs"],
  lacks: without("logprobs", "top_logprobs", "n", "presence_penalty", "frequency_penalty", "logit_bias", "seed"),
  bounds: { temperature: [0, 1] },
  isStrict: true,
};

/** developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility */
export const cloudflare: Dialect = {
  ...vendor,
  takes: ["top_k", "repetition_penalty", "chat_template_kwargs"],
  lacks: without("n", "logprobs", "top_logprobs", "logit_bias", "user"),
  isStrict: true,
};

/** docs.github.com/rest/models/inference: unknown members are 400; OpenAI's models follow OpenAI's rules. */
export const github: Dialect = {
  ...vendor,
  lacks: without("logit_bias", "logprobs", "top_logprobs", "n", "user"),
  renames: {},
  parts: kinds("text image_url input_audio"),
  isStrict: true,
  models: [[/^openai\//, { takesDeveloper: true }], ...openaiModels],
};

/** docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference */
export const databricks: Dialect = {
  ...vendor,
  takes: ["thinking", "top_k"],
  lacks: without("seed", "user", "parallel_tool_calls", "presence_penalty", "frequency_penalty", "logit_bias"),
  isStrict: true,
  models: [[/claude/, { takesCacheMarkers: true }]],
};

/** docs.ollama.com/api/openai-compatibility; it ignores unknown members. */
export const ollama: Dialect = {
  ...vendor,
  takes: samplingMembers,
  lacks: without("logit_bias", "n", "user"),
  toolChoices: forms("none", "required", "named"),
  history: ["reasoning_content", "reasoning"],
};

/**
 * vLLM, LM Studio and llama.cpp accept what their engines support, and ignore the rest: docs.vllm.ai, lmstudio.ai/docs,
 * llama.cpp's server.
 */
export const localServer: Dialect = {
  ...openModels,
  takes: [
    ...samplingMembers,
    "include_reasoning",
    "reasoning_format",
    "enable_thinking",
    "thinking_budget",
    "extra_body",
  ],
  lacks: ["store", "metadata", "prompt_cache_retention", "safety_identifier", "moderation"],
  parts: kinds("text refusal image_url video_url audio_url input_audio file"),
  history: ["reasoning_content", "reasoning", "prefix"],
};
