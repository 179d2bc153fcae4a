import { namesAt } from "./model-names.ts";
import type { PriceEntry, PriceTable } from "./price-entry.ts";
import { kindOf, makerOf, tableName } from "./providers.ts";

/**
 * The price of a model at a provider. `isMakerAssumed`: the seller is unknown, so the maker's price counts.
 * `isModelAssumed`: no table lists this snapshot, so the price of its model counts.
 */
export type Found = (AtProvider & { isMakerAssumed: boolean }) | "local" | undefined;

type AtProvider = { entry: PriceEntry; isModelAssumed: boolean };

/**
 * A price belongs to the pair of provider and model: another vendor's price is never used.
 * @param tables in order of precedence
 */
export function findEntry(tables: readonly PriceTable[], model: string, provider: string): Found {
  if (model === "") return undefined;
  const given = provider === "" ? "" : tableName(provider);
  const kind = given === "" ? "unknown" : kindOf(given);
  if (kind === "local") return localUnlessHosted(model);
  if (given !== "") {
    const found = atProvider(tables, given, model);
    if (found !== undefined) return { ...found, isMakerAssumed: false };
    if (kind === "host") return undefined;
  }
  return byName(tables, model, { isSold: given !== "" && !isSeller(tables, given) });
}

/** Ollama's cloud is recognized by the model's name: it sells subscriptions, not tokens. */
function localUnlessHosted(model: string): "local" | undefined {
  return /[:-]cloud$/.test(model) ? undefined : "local";
}

/** Uses a provider prefix in the name, as in `azure/gpt-4o`, or the maker of a model that no other vendor sells. */
function byName(tables: readonly PriceTable[], model: string, { isSold }: { isSold: boolean }): Found {
  const slash = model.indexOf("/");
  let name = model;
  if (slash > 0) {
    const prefix = tableName(model.slice(0, slash));
    const rest = model.slice(slash + 1);
    if (kindOf(prefix) === "local") return localUnlessHosted(rest);
    const found = atProvider(tables, prefix, rest) ?? atProvider(tables, prefix, model);
    if (found !== undefined) return { ...found, isMakerAssumed: isSold };
    if (kindOf(prefix) === "host") return undefined;
    name = rest;
  }
  const maker = makerOf(model) ?? makerOf(name);
  const found = maker === undefined ? undefined : (atProvider(tables, maker, model) ?? atProvider(tables, maker, name));
  return found && { ...found, isMakerAssumed: true };
}

function isSeller(tables: readonly PriceTable[], provider: string): boolean {
  return tables.some((table) => table.hasProvider(provider));
}

function atProvider(tables: readonly PriceTable[], provider: string, model: string): AtProvider | undefined {
  for (const { name, isModelOfSnapshot } of namesAt(provider, model)) {
    for (const table of tables) {
      const entry = table.find(provider, name);
      if (entry !== undefined) return { entry, isModelAssumed: isModelOfSnapshot };
    }
  }
  return undefined;
}
