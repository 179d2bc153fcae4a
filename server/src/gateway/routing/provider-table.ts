import type { ChatTranslator } from "../providers/provider.ts";
import { openaiShaped, type Quirks } from "../providers/quirks.ts";
import type { ProviderEntry } from "./plan.ts";

/** The provider that runs inside this process, as in `spanway/echo`. */
export const builtInProvider = "spanway";

/** Addresses of vendors with a wire format of their own. Bedrock's follows from its region. */
const translatedBaseUrls: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
};

/** All providers by name: those that speak OpenAI's wire format, those with a translator, and the built-in one. */
export function createProviderTable(
  translators: Readonly<Record<string, ChatTranslator>>,
): ReadonlyMap<string, ProviderEntry> {
  const { custom, ...shaped } = openaiShaped;
  const table = new Map<string, ProviderEntry>();
  for (const [name, quirks] of Object.entries<Quirks>(shaped)) {
    table.set(name, { translator: undefined, quirks, baseUrl: quirks.baseUrl });
  }
  for (const [name, translator] of Object.entries(translators)) {
    table.set(name, { translator, quirks: custom, baseUrl: translatedBaseUrls[name] });
  }
  table.set(builtInProvider, { translator: undefined, quirks: custom, baseUrl: "" });
  return table;
}

/** A server of an organization or a caller: any base URL, with OpenAI's wire format. */
export const customProvider: ProviderEntry = { translator: undefined, quirks: openaiShaped.custom, baseUrl: undefined };

type Vendor = Exclude<keyof typeof openaiShaped, "custom">;

/**
 * Further hosts of vendors, beside the one in their quirks: regions, earlier names, and suffixes of per-customer hosts.
 * From the vendors' documentation.
 */
const furtherHosts: Readonly<Partial<Record<Vendor, readonly string[]>>> = {
  openai: ["eu.api.openai.com", "us.api.openai.com"],
  azure: [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"],
  together: ["api.together.ai"],
  moonshot: ["api.moonshot.cn"],
  dashscope: ["dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"],
  zhipu: ["open.bigmodel.cn"],
  minimax: ["api.minimaxi.com"],
  cohere: ["api.cohere.com"],
  github: ["models.inference.ai.azure.com"],
  nebius: ["api.studio.nebius.com"],
  cloudflare: ["api.cloudflare.com"],
  databricks: [".cloud.databricks.com", ".azuredatabricks.net", ".gcp.databricks.com"],
};

const byHost = new Map<string, Quirks>();
const bySuffix: Array<{ suffix: string; quirks: Quirks }> = [];
for (const [vendor, quirks] of Object.entries<Quirks>(openaiShaped)) {
  const hosts = furtherHosts[vendor as Vendor] ?? [];
  for (const host of hosts) {
    if (host.startsWith(".")) bySuffix.push({ suffix: host, quirks });
    else byHost.set(host, quirks);
  }
  // Self-hosted servers have no host by which to recognize them.
  if (typeof quirks.baseUrl === "string" && quirks.baseUrl.startsWith("https:"))
    byHost.set(new URL(quirks.baseUrl).hostname, quirks);
}

/** The quirks of the vendor to whom an address belongs; undefined for an unknown host. */
export function quirksAt(baseUrl: string): Quirks | undefined {
  const hostname = URL.parse(baseUrl)?.hostname;
  if (hostname === undefined) return undefined;
  return byHost.get(hostname) ?? bySuffix.find(({ suffix }) => hostname.endsWith(suffix))?.quirks;
}
