import type { ModelPrice } from "../../domain/model-price.ts";
import type { PriceEntry } from "../price-entry.ts";
import { makerOf, tableName } from "../providers.ts";
import { versions } from "../receipt.ts";
import { matchesPattern, readPattern, wildcardsOf, type ModelPattern } from "./model-pattern.ts";

type ListedPrice = {
  pattern: ModelPattern;
  /** The table name of the provider; '' for any. */
  provider: string;
  fromMs: number;
  toMs: number;
  /** More exact prices rank higher. */
  rank: number;
  updatedAt: string;
  entry: PriceEntry;
};

/**
 * The prices of one owner. Precedence among matching prices: an exact name before a pattern, a pattern with more
 * letters before one with fewer, one that names the provider before one that does not, and the most recently changed
 * first.
 */
export class PriceList {
  readonly #byId = new Map<string, ListedPrice>();
  readonly #exact = new Map<string, ListedPrice[]>();
  #patterns: ListedPrice[] = [];
  /** By model, then provider, as calls name them. */
  readonly #found = new Map<string, Map<string, readonly ListedPrice[]>>();
  #foundSize = 0;
  readonly #maxFound: number;

  constructor({ maxFound }: { maxFound: number }) {
    this.#maxFound = maxFound;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Adds a price, or replaces it with its current form. */
  put(price: ModelPrice): void {
    this.#remove(price.id);
    const listed = entryOf(price);
    this.#byId.set(price.id, listed);
    if (listed.pattern.length > 1) this.#patterns.push(listed);
    else {
      const name = price.model.toLowerCase();
      this.#exact.set(name, [...(this.#exact.get(name) ?? []), listed]);
    }
    this.#evict();
  }

  find(model: string, provider: string, timestampNs: bigint): PriceEntry | undefined {
    if (this.#byId.size === 0) return undefined;
    const candidates = this.#found.get(model)?.get(provider) ?? this.#find(model, provider);
    if (candidates.length === 0) return undefined;
    const ms = Number(timestampNs / 1_000_000n);
    return candidates.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs)?.entry;
  }

  #find(model: string, provider: string): readonly ListedPrice[] {
    // Names come from callers: clear the cache rather than grow without bound.
    if (this.#foundSize >= this.#maxFound) this.#evict();
    const { names, providers } = meaningOf(model, provider);
    const fits = (listed: ListedPrice): boolean => listed.provider === "" || providers.includes(listed.provider);
    const exact = names.flatMap((name) => this.#exact.get(name) ?? []);
    const patterns = this.#patterns.filter(({ pattern }) => names.some((name) => matchesPattern(pattern, name)));
    const found = [...exact, ...patterns]
      .filter(fits)
      .sort((a, b) => b.rank - a.rank || (a.updatedAt < b.updatedAt ? 1 : -1));
    this.#found.set(model, (this.#found.get(model) ?? new Map<string, readonly ListedPrice[]>()).set(provider, found));
    this.#foundSize += 1;
    return found;
  }

  #remove(id: string): void {
    const listed = this.#byId.get(id);
    if (listed === undefined) return;
    this.#byId.delete(id);
    if (listed.pattern.length > 1) this.#patterns = this.#patterns.filter((one) => one !== listed);
    else {
      const [name = ""] = listed.pattern;
      const left = (this.#exact.get(name) ?? []).filter((one) => one !== listed);
      if (left.length > 0) this.#exact.set(name, left);
      else this.#exact.delete(name);
    }
  }

  #evict(): void {
    this.#found.clear();
    this.#foundSize = 0;
  }
}

/**
 * The possible meanings of a call's names: `openai/gpt-4o` is gpt-4o at openai, and gpt-4o without a provider is its
 * maker's.
 */
function meaningOf(model: string, provider: string): { names: string[]; providers: string[] } {
  const name = model.toLowerCase();
  const slash = name.indexOf("/");
  const prefix = slash > 0 ? tableName(name.slice(0, slash)) : "";
  if (provider !== "") {
    const given = tableName(provider);
    return { names: prefix === given ? [name, name.slice(slash + 1)] : [name], providers: [given] };
  }
  const rest = slash > 0 ? [name.slice(slash + 1)] : [];
  const maker = slash > 0 ? prefix : makerOf(name);
  return { names: [name, ...rest], providers: maker === undefined ? [] : [maker] };
}

/** More than the letters of any name. */
const exactly = 10_000;

function entryOf(price: ModelPrice): ListedPrice {
  const { provider } = price;
  const pattern = readPattern(price.model);
  const letters = pattern.reduce((sum, part) => sum + part.length, 0);
  const kind = price.unique_organization_id === null ? versions.instance : versions.own;
  const place = price.provider === "" ? price.model : `${price.provider}/${price.model}`;
  return {
    pattern,
    provider,
    fromMs: price.valid_from === null ? Number.NEGATIVE_INFINITY : Date.parse(price.valid_from),
    toMs: price.valid_to === null ? Number.POSITIVE_INFINITY : Date.parse(price.valid_to),
    rank: 2 * (wildcardsOf(price.model) === 0 ? exactly : letters) + (provider === "" ? 0 : 1),
    updatedAt: price.updated_at,
    entry: {
      provider,
      model: price.model,
      source: `${kind}${place}@${price.updated_at.slice(0, 10)}`,
      periods: [{ holdsAt: () => true, steps: [{ above: -1, rates: price.rates }] }],
      isOwn: true,
    },
  };
}
