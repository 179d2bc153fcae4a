/**
 * What an OpenAI-compatible provider accepts in a chat request. Anything else is mapped to something that it accepts,
 * or omitted, and named in `x-spanway-adjusted`; a parameter whose absence the caller would notice is refused by name,
 * so that another model may serve it.
 */
export type Dialect = {
  /** Members of other dialects (`foreignMembers`) that it accepts too. */
  takes: readonly string[];
  /** OpenAI's members that it refuses or does not know. */
  lacks: readonly string[];
  /** Its own names for OpenAI's members. */
  renames: Readonly<Record<string, string>>;
  /** Numbers that it accepts only within bounds, both inclusive. */
  bounds: Readonly<Record<string, readonly [min: number, max: number]>>;
  /** Values of `reasoning_effort`, weakest first; absent: all. */
  efforts?: readonly string[];
  /** The member that enables reasoning, if it is not Anthropic's `thinking`; absent: none. */
  thinkingAs?: "reasoning_effort" | "reasoning" | "enable_thinking";
  /** Forms of `tool_choice` besides `auto`. Unsupported forms become `auto`. */
  toolChoices: ReadonlySet<ToolChoiceForm>;
  /** Kinds of `response_format` besides `text`. */
  formats: ReadonlySet<"json_object" | "json_schema">;
  /** Kinds of content parts. */
  parts: ReadonlySet<string>;
  /** Members of messages besides OpenAI's that it accepts back. */
  history: readonly string[];
  /** Whether it refuses unknown members of messages: then it gets only known ones. */
  isStrict: boolean;
  /** OpenAI's members of messages that it refuses. */
  messagesLack: readonly string[];
  takesDeveloper: boolean;
  /** `cache_control` on messages, parts and tools. */
  takesCacheMarkers: boolean;
  /** Whether system messages must come first, and user and assistant must alternate. */
  alternates: boolean;
  /**
   * Mistral's rules: ids of tool calls are nine letters and digits, a user message never follows a tool message, and a
   * last assistant message is a prefix.
   */
  isMistral: boolean;
  /** The maximum length of tool call ids. */
  maxIdChars: number;
  /**
   * Whether it parses the arguments of calls in the history, and does not support OpenAI's legacy functions: they are
   * sent as tool calls.
   */
  parsesCalls: boolean;
  /** Whether, while it thinks, it refuses assistant messages with calls that lack `reasoning_content`. */
  needsReasoning: boolean;
  /** Differences of some of its models; all matching entries apply. */
  models: ReadonlyArray<readonly [pattern: RegExp, differences: Partial<Omit<Dialect, "models">>]>;
};

export type ToolChoiceForm = "none" | "required" | "named" | "allowed_tools";

/** The dialect of an unknown provider, which is assumed to accept everything: its requests are not adapted. */
export const anyDialect = "any";

const words = (text: string): readonly string[] => text.split(" ");

/** Members of requests that exist only in some dialects, by owner. OpenAI returns 400 for them. */
const foreign = {
  anthropic: [
    "thinking",
    "top_k",
    "output_config",
    "anthropic_beta",
    "stop_sequences",
    "context_management",
    "mcp_servers",
    "cache_control",
  ],
  google: words(
    "safetySettings safety_settings generationConfig generation_config cachedContent cached_content " +
      "systemInstruction system_instruction toolConfig labels extra_body thinking_config",
  ),
  bedrock: words(
    "guardrailConfig performanceConfig promptVariables requestMetadata inferenceConfig " +
      "additionalModelRequestFields additionalModelResponseFieldPaths",
  ),
  sampling: ["min_p", "top_a", "repetition_penalty", "length_penalty", "min_tokens", "chat_template_kwargs"],
  reasoning: [
    "reasoning",
    "include_reasoning",
    "reasoning_format",
    "enable_thinking",
    "thinking_budget",
    "reasoning_split",
  ],
  openrouter: ["provider", "route", "transforms", "plugins"],
  mistral: ["safe_prompt", "random_seed", "prompt_mode"],
  others: ["search_parameters", "enable_search", "search_options", "do_sample", "request_id", "user_id"],
} as const;

export const foreignMembers: ReadonlySet<string> = new Set(Object.values(foreign).flat());

/** The groups above, for the tables of vendors. */
export const samplingMembers: readonly string[] = [...foreign.sampling, "top_k"];
export const openrouterMembers: readonly string[] = [...foreign.openrouter, "reasoning", "include_reasoning"];
export const mistralMembers: readonly string[] = foreign.mistral;

/** Members of messages, of any role, that OpenAI documents. */
export const messageMembers: ReadonlySet<string> = new Set(
  words("role content name tool_calls tool_call_id refusal audio function_call"),
);

/** Members that this gateway or another provider added to a response, and that clients send back in the next turn. */
export const serviceMembers: ReadonlySet<string> = new Set(
  words(
    "reasoning_content reasoning reasoning_details thinking_blocks images annotations extra_content " +
      "provider_specific_fields citations search_results cache_control prefix",
  ),
);
