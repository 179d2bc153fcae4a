import type { ChatTranslator } from "../providers/provider.ts";
import { openaiShaped, type Quirks } from "../providers/quirks.ts";
import type { ProviderEntry } from "./plan.ts";

/** What answers inside this process, as `spanway/echo`. */
export const builtInProvider = "spanway";

/** Addresses of the vendors whose wire is not OpenAI's; Bedrock's follows from its region. */
const translatedBaseUrls: Readonly<Record<string, string>> = {
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
};

/** Every provider there is by name: those that speak OpenAI's wire, those with a translator, and the built-in one. */
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

/** A server that an organisation or a caller brings: any base URL, and OpenAI's wire. */
export const customProvider: ProviderEntry = { translator: undefined, quirks: openaiShaped.custom, baseUrl: undefined };
