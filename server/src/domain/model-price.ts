/**
 * Prices set by an organization for itself, or by an instance admin or the operator for all organizations. They precede the price tables.
 */

/** The owner of a price: an organization's public id, or null for all organizations. */
export type PriceOwner = string | null;

export type ModelPriceFields = {
  /** A model's name; `*` stands for any characters. Case-insensitive. */
  model: string;
  /** '' for any provider. */
  provider: string;
  /** By bucket: USD per million tokens, or per unit. */
  rates: Readonly<Record<string, number>>;
  /** ISO 8601, UTC. The first moment at which it applies; null: always did. */
  valid_from: string | null;
  /** The first moment at which it no longer applies; null: never ends. */
  valid_to: string | null;
};

export type ModelPrice = ModelPriceFields & {
  id: string;
  unique_organization_id: PriceOwner;
  created_at: string;
  updated_at: string;
};

/** The revision of one owner's prices; rises with every change. `removals` counts the changes that removed a price. */
export type PriceRevision = { owner: PriceOwner; revision: number; removals: number };

export const priceFileFormats = ["genai-prices", "litellm"] as const;
export type PriceFileFormat = (typeof priceFileFormats)[number];

/** A price table that the operator loaded, without its content. `name` appears in receipts. */
export type LoadedPriceTable = { id: number; name: string; format: PriceFileFormat; models: number; loaded_at: string };
