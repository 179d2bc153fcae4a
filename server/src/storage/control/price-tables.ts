import type { Generated } from "kysely";

export type PriceSchema = {
  model_prices: ModelPriceTable;
  model_price_revisions: ModelPriceRevisionTable;
  price_tables: PriceTableTable;
};

/** `owner` is an organization's public id, or '' for all organizations; `model_key` is the model in lower case, `rates` a JSON object. */
type ModelPriceTable = {
  id: string;
  owner: string;
  model: string;
  model_key: string;
  provider: string;
  rates: string;
  valid_from: string | null;
  valid_to: string | null;
  /** The revision of the owner's prices when this one was last changed. */
  revision: number;
  created_at: string;
  updated_at: string;
};

type ModelPriceRevisionTable = { owner: string; revision: number; removals: number };

/** `content` is the JSON of the file, unchanged. */
type PriceTableTable = {
  id: Generated<number>;
  name: string;
  format: string;
  models: number;
  content: string;
  loaded_at: string;
};
