/** What exporters call a provider → the name used here. */
const aliases = new Map([
  ["xai", "x_ai"],
  ["az.ai.openai", "azure.ai.openai"],
  ["google.generative-ai", "google"],
  ["azure-openai", "azure"],
  ["amazon-bedrock", "aws.bedrock"],
]);

/** Frameworks that put their own name where the provider belongs: the model's provider is somebody else. */
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

/** The AI SDK names the API beside the provider: `openai.chat`, `anthropic.messages`. */
const apiSuffix =
  /\.(?:chat|completion|completions|responses|embedding|textEmbedding|messages|image|speech|transcription|generative-ai)$/;

/** The provider's name; undefined where it is a framework's. */
export function providerOf(given: string): string | undefined {
  const name = given.toLowerCase();
  if (frameworks.has(name)) return undefined;
  return aliases.get(name) ?? given.replace(apiSuffix, "").toLowerCase();
}
