/** Prices that an organization states for itself, or the operator for all organizations. They come before the price tables. */

/** Whose a price is: an organization's public id, or null for all organizations. */
export type PriceOwner = string | null;

export type ModelPriceFields = {
  /** A model's name; `*` stands for any characters. Upper and lower case are the same. */
  model: string;
  /** '' for any provider. */
  provider: string;
  /** By bucket: USD per million tokens, or per unit. */
  rates: Readonly<Record<string, number>>;
  /** ISO 8601, UTC. The first moment at which it holds; null: always did. */
  valid_from: string | null;
  /** The first moment at which it no longer holds; null: for ever. */
  valid_to: string | null;
};

export type ModelPrice = ModelPriceFields & {
  id: string;
  unique_organization_id: PriceOwner;
  created_at: string;
  updated_at: string;
};

/** Of the prices of one owner: it rises with every change. `removals` counts those that took a price away. */
export type PriceRevision = { owner: PriceOwner; revision: number; removals: number };

export const priceFileFormats = ["genai-prices", "litellm"] as const;
export type PriceFileFormat = (typeof priceFileFormats)[number];

/** A price table that the operator loaded, without its content. `name` is what receipts call it. */
export type LoadedPriceTable = { id: number; name: string; format: PriceFileFormat; models: number; loaded_at: string };
