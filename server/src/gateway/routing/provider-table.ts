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
