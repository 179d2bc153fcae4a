import { lookUp } from "../../lib/look-up.ts";

/** Other spellings of a provider in model names, headers and parameters → the canonical name. */
const aliases: Readonly<Record<string, string>> = {
  azure_openai: "azure",
  "azure-openai": "azure",
  google: "gemini",
  google_ai_studio: "gemini",
  "google-ai-studio": "gemini",
  google_gemini: "gemini",
  vertex_ai: "gemini",
  "vertex-ai": "gemini",
  aws: "bedrock",
  aws_bedrock: "bedrock",
  "aws-bedrock": "bedrock",
  "amazon-bedrock": "bedrock",
  together_ai: "together",
  togetherai: "together",
  fireworks_ai: "fireworks",
  "fireworks-ai": "fireworks",
  mistralai: "mistral",
  mistral_ai: "mistral",
  "x-ai": "xai",
  x_ai: "xai",
  grok: "xai",
  "perplexity-ai": "perplexity",
  perplexity_ai: "perplexity",
  "moonshot-ai": "moonshot",
  moonshot_ai: "moonshot",
  kimi: "moonshot",
  alibaba: "dashscope",
  zhipuai: "zhipu",
  zai: "zhipu",
  "z-ai": "zhipu",
  z_ai: "zhipu",
  bigmodel: "zhipu",
  minimax_ai: "minimax",
  "minimax-ai": "minimax",
  cohere_chat: "cohere",
  cohere_ai: "cohere",
  nvidia_nim: "nvidia",
  "nvidia-nim": "nvidia",
  hugging_face: "huggingface",
  "hugging-face": "huggingface",
  hf: "huggingface",
  samba_nova: "sambanova",
  workers_ai: "cloudflare",
  "workers-ai": "cloudflare",
  "cloudflare-workers-ai": "cloudflare",
  github_models: "github",
  "github-models": "github",
  deep_infra: "deepinfra",
  "deep-infra": "deepinfra",
  nebius_ai: "nebius",
  "nebius-ai": "nebius",
  novita_ai: "novita",
  "novita-ai": "novita",
  lm_studio: "lmstudio",
  "lm-studio": "lmstudio",
  "llama.cpp": "llamacpp",
  "llama-cpp": "llamacpp",
  llama_cpp: "llamacpp",
};

/** The form of a name that an organization may give a provider of its own. */
export const providerNamePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The canonical name of a provider. An unknown name stays as it is, in lower case. */
export function providerName(name: string): string {
  const lower = name.trim().toLowerCase();
  return lookUp(aliases, lower) ?? lower;
}
