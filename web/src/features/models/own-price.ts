/** A price set by the organization. */
export type OwnPrice = {
  id: string;
  model: string;
  provider: string;
  rates: Readonly<Record<string, number>>;
  valid_from: string | null;
  valid_to: string | null;
  updated_at: string;
};

/** Prices use the provider names of the price tables. */
const tableNames: Readonly<Record<string, string>> = { bedrock: "aws", gemini: "google", xai: "x-ai" };

/**
 * The price that applies to a call of the model at a time, by the server's rules: an exact name precedes a pattern,
 * more letters precede fewer, a price with a provider precedes one without, and the last changed precedes the others.
 */
export function ownPriceOf(
  prices: readonly OwnPrice[],
  { model, provider, at }: { model: string; provider: string; at: number },
): OwnPrice | undefined {
  const called = tableNames[provider] ?? provider;
  return prices
    .filter((price) => price.provider === "" || price.provider === called)
    .filter((price) => stateOf(price, at) === "holds" && fits(price.model, model))
    .toSorted((a, b) => rankOf(b) - rankOf(a) || (a.updated_at < b.updated_at ? 1 : -1))[0];
}

export function stateOf({ valid_from, valid_to }: OwnPrice, at: number): "holds" | "ended" | "later" {
  if (valid_to !== null && Date.parse(valid_to) <= at) return "ended";
  return valid_from !== null && Date.parse(valid_from) > at ? "later" : "holds";
}

/** `*` matches any characters. Runs in linear time: it does not use regular expressions. */
function fits(pattern: string, model: string): boolean {
  const name = model.toLowerCase();
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const middle = name.slice(first.length, name.length - last.length);
  let at = 0;
  return rest.every((part) => {
    const found = middle.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

/** Higher than the number of letters of any name. */
const exactly = 10_000;

function rankOf({ model, provider }: OwnPrice): number {
  const letters = model.includes("*") ? model.replaceAll("*", "").length : exactly;
  return 2 * letters + (provider === "" ? 0 : 1);
}
