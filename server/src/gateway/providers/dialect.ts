/**
 * What a provider of OpenAI's wire takes of a chat. Whatever it does not take is mapped to what it does, or left out, and named in
 * `x-spanway-adjusted`; what the caller would miss is refused by its name, so that another model may take it.
 */
export type Dialect = {
  /** Members of the request that are of other dialects (`foreignMembers`) and that it knows too. */
  takes: readonly string[];
  /** OpenAI's members that it refuses or does not know. */
  lacks: readonly string[];
  /** Its own names of OpenAI's members. */
  renames: Readonly<Record<string, string>>;
  /** Numbers that it takes only within bounds, both included. */
  bounds: Readonly<Record<string, readonly [min: number, max: number]>>;
  /** Values of `reasoning_effort`, weakest first; all where it is absent. */
  efforts?: readonly string[];
  /** How it is asked to think, where not by Anthropic's `thinking`; absent: not at all. */
  thinkingAs?: "reasoning_effort" | "reasoning" | "enable_thinking";
  /** Forms of `tool_choice` beside `auto`. What it has no form for becomes `auto`. */
  toolChoices: ReadonlySet<ToolChoiceForm>;
  /** Kinds of `response_format` beside `text`. */
  formats: ReadonlySet<"json_object" | "json_schema">;
  /** Kinds of content parts. */
  parts: ReadonlySet<string>;
  /** Members of messages beside OpenAI's that it takes back. */
  history: readonly string[];
  /** Whether it refuses members of messages that it does not know: it gets known ones alone. */
  isStrict: boolean;
  /** OpenAI's members of messages that it refuses. */
  messagesLack: readonly string[];
  takesDeveloper: boolean;
  /** `cache_control` on messages, parts and tools. */
  takesCacheMarkers: boolean;
  /** Whether system messages may stand only at the beginning, and users and assistants must take turns. */
  alternates: boolean;
  /** Ids of tool calls are nine letters and digits, a user never follows a tool, and a last assistant message is a prefix: Mistral's rules. */
  isMistral: boolean;
  /** How long ids of tool calls may be. */
  maxIdChars: number;
  /** Whether it parses the arguments of calls in the history, and knows OpenAI's former functions not: they go as calls of tools. */
  parsesCalls: boolean;
  /** It refuses assistant messages with calls that lack `reasoning_content` while it thinks. */
  needsReasoning: boolean;
  /** What differs for some of its models; all that match count. */
  models: ReadonlyArray<readonly [pattern: RegExp, differences: Partial<Omit<Dialect, "models">>]>;
};

export type ToolChoiceForm = "none" | "required" | "named" | "allowed_tools";

/** What a system that nobody has described is assumed to take: everything, as it was sent. */
export const anyDialect = "any";

const words = (text: string): readonly string[] => text.split(" ");

/** Members of requests that only some dialects have, by whose they are. OpenAI answers 400 to them. */
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

/** Names of the groups above, for the tables of vendors. */
export const samplingMembers: readonly string[] = [...foreign.sampling, "top_k"];
export const openrouterMembers: readonly string[] = [...foreign.openrouter, "reasoning", "include_reasoning"];
export const mistralMembers: readonly string[] = foreign.mistral;

/** Members of messages that OpenAI documents, whoever speaks. */
export const messageMembers: ReadonlySet<string> = new Set(
  words("role content name tool_calls tool_call_id refusal audio function_call"),
);

/** Members that this gateway, or another provider, wrote into an answer, and that come back in the next turn. */
export const serviceMembers: ReadonlySet<string> = new Set(
  words(
    "reasoning_content reasoning reasoning_details thinking_blocks images annotations extra_content " +
      "provider_specific_fields citations search_results cache_control prefix",
  ),
);
