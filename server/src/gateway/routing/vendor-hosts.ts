import { openaiShaped, type Quirks } from "../providers/quirks.ts";

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
