/** Names that exporters use for a provider → the name used here. */
const aliases = new Map([
  ["xai", "x_ai"],
  ["az.ai.openai", "azure.ai.openai"],
  ["google.generative-ai", "google"],
  ["azure-openai", "azure"],
  ["amazon-bedrock", "aws.bedrock"],
]);

/** Frameworks that send their own name as the provider: the model's provider is another. */
const frameworks = new Set([
  "strands-agents",
  "langchain",
  "langgraph",
  "gcp.vertex.agent",
  "crewai",
  "llamaindex",
  "spring_ai",
  "autogen",
  "haystack",
  "semantic_kernel",
  "microsoft.agent_framework",
]);

/** The AI SDK appends the API to the provider: `openai.chat`, `anthropic.messages`. */
const apiSuffix =
  /\.(?:chat|completion|completions|responses|embedding|textEmbedding|messages|image|speech|transcription|generative-ai)$/;

/** The provider's name; undefined for a framework's. */
export function providerOf(given: string): string | undefined {
  const name = given.toLowerCase();
  if (frameworks.has(name)) return undefined;
  return aliases.get(name) ?? given.replace(apiSuffix, "").toLowerCase();
}
