import type { PriceEntry, PriceTable } from "./price-entry.ts";
import { kindOf, makerOf, tableName } from "./providers.ts";

/** What is known of the price of a model at a provider. `isMakerAssumed`: nobody says who sold it, so its maker's price counts. */
export type Found = { entry: PriceEntry; isMakerAssumed: boolean } | "local" | undefined;

/**
 * The price belongs to the pair of provider and model: that of another vendor is never taken for it.
 * @param tables in the order in which they are asked
 */
export function findEntry(tables: readonly PriceTable[], model: string, provider: string): Found {
  if (model === "") return undefined;
  const given = provider === "" ? "" : tableName(provider);
  const kind = given === "" ? "unknown" : kindOf(given);
  if (kind === "local") return localUnlessHosted(model);
  if (given !== "") {
    const entry = atProvider(tables, given, model);
    if (entry !== undefined) return { entry, isMakerAssumed: false };
    if (kind === "host") return undefined;
  }
  return byName(tables, model, { isSold: given !== "" && !isSeller(tables, given) });
}

/** Ollama's own cloud is told by the name: it sells subscriptions, no tokens. */
function localUnlessHosted(model: string): "local" | undefined {
  return /[:-]cloud$/.test(model) ? undefined : "local";
}

/** The name says whose model it is, as `azure/gpt-4o` does, or it is one that its maker alone sells. */
function byName(tables: readonly PriceTable[], model: string, { isSold }: { isSold: boolean }): Found {
  const slash = model.indexOf("/");
  let name = model;
  if (slash > 0) {
    const prefix = tableName(model.slice(0, slash));
    const rest = model.slice(slash + 1);
    if (kindOf(prefix) === "local") return localUnlessHosted(rest);
    const entry = atProvider(tables, prefix, rest) ?? atProvider(tables, prefix, model);
    if (entry !== undefined) return { entry, isMakerAssumed: isSold };
    if (kindOf(prefix) === "host") return undefined;
    name = rest;
  }
  const maker = makerOf(model) ?? makerOf(name);
  const entry = maker === undefined ? undefined : (atProvider(tables, maker, model) ?? atProvider(tables, maker, name));
  return entry && { entry, isMakerAssumed: true };
}

function isSeller(tables: readonly PriceTable[], provider: string): boolean {
  return tables.some((table) => table.hasProvider(provider));
}

function atProvider(tables: readonly PriceTable[], provider: string, model: string): PriceEntry | undefined {
  for (const name of namesAt(provider, model)) {
    for (const table of tables) {
      const found = table.find(provider, name);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function namesAt(provider: string, model: string): string[] {
  const slash = model.indexOf("/");
  if (slash <= 0) return [model];
  const names = [model];
  if (tableName(model.slice(0, slash)) === provider) names.push(model.slice(slash + 1));
  if (model.startsWith("arn:")) names.push(model.slice(model.lastIndexOf("/") + 1));
  return names;
}
