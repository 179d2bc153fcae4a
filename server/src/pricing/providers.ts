import { bedrockPrefix } from "../domain/model-name.ts";

/** Names that clients use for a provider → its name in price tables. */
const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    azure: [
      "azure_openai",
      "azure-openai",
      "azureopenai",
      "azure.ai.openai",
      "az.ai.openai",
      "azure_ai",
      "azure.ai.inference",
      "az.ai.inference",
      "microsoft.foundry",
    ],
    aws: [
      "bedrock",
      "aws_bedrock",
      "aws-bedrock",
      "aws.bedrock",
      "amazon-bedrock",
      "amazon_bedrock",
      "bedrock_converse",
      "amazon",
    ],
    google: [
      "gemini",
      "vertex_ai",
      "vertex-ai",
      "vertexai",
      "vertex",
      "google_genai",
      "google-genai",
      "google_vertexai",
      "google-gla",
      "google-vertex",
      "gcp",
      "gcp.gemini",
      "gcp.vertex_ai",
      "gcp.gen_ai",
      "google.generative-ai",
      "google.vertex",
      "vertex_ai_beta",
    ],
    "x-ai": ["xai", "x_ai", "grok"],
    mistral: ["mistralai", "mistral_ai", "mistral-ai"],
    together: ["together_ai", "together-ai", "togetherai"],
    fireworks: ["fireworks_ai", "fireworks-ai", "fireworksai"],
    moonshotai: ["moonshot", "kimi"],
    zai: ["z.ai", "z-ai"],
    zhipuai: ["zhipu"],
    voyageai: ["voyage", "voyage_ai"],
    perplexity: ["perplexity_ai", "perplexity-ai", "pplx"],
    novita: ["novita_ai", "novita-ai"],
    cloudflare: ["cloudflare_workers_ai", "workers-ai", "workers_ai"],
    "github-copilot": ["github_copilot"],
    openai: ["openai.chat", "openai.responses", "openai.completion", "openai.embedding", "text-completion-openai"],
    anthropic: ["anthropic.messages", "claude"],
    cohere: ["cohere_chat"],
  } satisfies Record<string, readonly string[]>).flatMap(([name, others]) =>
    others.map((other): [string, string] => [other, name]),
  ),
);

/** Providers on the user's own machine: tokens are free, unless the owner sets a price. */
const local: ReadonlySet<string> = new Set([
  "ollama",
  "ollama_chat",
  "vllm",
  "hosted_vllm",
  "lmstudio",
  "lm_studio",
  "lm-studio",
  "llama.cpp",
  "llamacpp",
  "llama_cpp",
  "llama-cpp",
  "llamafile",
  "localai",
  "local_ai",
  "local-ai",
  "local",
  "localhost",
  "gpt4all",
  "jan",
  "koboldcpp",
  "tabbyapi",
  "mlx",
  "mlx_lm",
  "sglang",
  "tgi",
  "text-generation-inference",
  "text_generation_inference",
  "text-generation-webui",
  "oobabooga",
  "xinference",
  "docker",
  "docker_model_runner",
  "ramalama",
  "triton",
  "transformers",
  "lemonade",
  "foundry_local",
  "docker-model-runner",
]);

/**
 * Vendors with their own prices for models of others. A model of theirs that the tables lack has no price: the price of
 * its maker or of another host does not apply.
 */
const hosts: ReadonlySet<string> = new Set([
  "together",
  "fireworks",
  "groq",
  "cerebras",
  "openrouter",
  "aws",
  "azure",
  "google",
  "novita",
  "baseten",
  "cloudflare",
  "modal",
  "ovhcloud",
  "deepinfra",
  "sambanova",
  "nebius",
  "hyperbolic",
  "nvidia",
  "nvidia_nim",
  "huggingface",
  "github",
  "github-copilot",
  "dashscope",
  "qwen",
  "databricks",
  "replicate",
  "anyscale",
  "lepton",
  "lambda",
  "lambda_ai",
  "featherless",
  "featherless_ai",
  "parasail",
  "siliconflow",
  "volcengine",
  "watsonx",
  "ibm.watsonx.ai",
  "snowflake",
  "oci",
  "sap",
  "scaleway",
  "friendliai",
  "nscale",
  "inference.net",
  "chutes",
  "targon",
  "predibase",
  "deepseek",
  "mistral",
  "moonshotai",
  "minimax",
  "zai",
  "zhipuai",
  "perplexity",
  "cohere",
  "anthropic",
  "x-ai",
]);

export type ProviderKind = "local" | "host" | "unknown";

export function tableName(provider: string): string {
  const name = provider.toLowerCase();
  return aliases.get(name) ?? name;
}

/** @param provider a name as `tableName` returns it */
export function kindOf(provider: string): ProviderKind {
  if (local.has(provider)) return "local";
  return hosts.has(provider) || provider.startsWith("huggingface") ? "host" : "unknown";
}

/**
 * The maker of a model, for calls whose provider is unknown or a proxy: only models that no other vendor sells under
 * these names. Open-weight models have a price per host.
 */
const makers: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /^(ft:)?(gpt-(?!oss)|chatgpt-|o[134](-|$)|text-embedding-(3|ada)|whisper-1|tts-|omni-moderation|dall-e|computer-use|codex|babbage|davinci)/,
    "openai",
  ],
  [/^claude/, "anthropic"],
  [/^(models\/)?(gemini|text-embedding-00|embedding-00)/, "google"],
  [bedrockPrefix, "aws"],
  [/^arn:aws[\w-]*:bedrock:/, "aws"],
  [/^grok-/, "x-ai"],
  [/^deepseek-(chat|reasoner|flash)$/, "deepseek"],
  [
    /^(mistral-(large|medium|small|tiny|ocr|embed|saba|moderation)|codestral|magistral|devstral|pixtral-large|ministral|voxtral)/,
    "mistral",
  ],
  [/^command-/, "cohere"],
  [/^sonar/, "perplexity"],
  [/^(moonshot-|kimi-)/, "moonshotai"],
  [/^voyage-/, "voyageai"],
  [/^accounts\/fireworks\//, "fireworks"],
];

export function makerOf(model: string): string | undefined {
  const name = model.toLowerCase();
  return makers.find(([pattern]) => pattern.test(name))?.[1];
}
