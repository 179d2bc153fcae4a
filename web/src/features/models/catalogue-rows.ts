import { ownPriceOf, type OwnPrice } from "./own-price.ts";
import type { mainBuckets } from "./rates.ts";

export type KnownModel = {
  model_name: string;
  max_context_window: number | null;
  input_cost: number | null;
  cache_read_cost: number | null;
  cache_write_cost: number | null;
  output_cost: number | null;
  /** A long prompt, or a call at another hour of the day, has another price. */
  cost_varies: boolean;
  provider: { provider_id: string };
};

export type MainRates = { readonly [B in (typeof mainBuckets)[number]]: number | null };

/** The provider's models whose name contains the text, ignoring case. */
export function findModels(
  models: readonly KnownModel[],
  { find = "", provider }: { find?: string | undefined; provider?: string | undefined },
): KnownModel[] {
  const text = find.trim().toLowerCase();
  return models.filter(
    ({ model_name: name, provider: { provider_id: id } }) =>
      (provider === undefined || id === provider) && (text === "" || `${id}/${name}`.toLowerCase().includes(text)),
  );
}

/** The current price of a model. If the organization has its own price, only that one applies. */
export function priceNow(
  model: KnownModel,
  prices: readonly OwnPrice[],
  at: number,
): { own: OwnPrice | undefined; rates: MainRates } {
  const own = ownPriceOf(prices, { model: model.model_name, provider: model.provider.provider_id, at });
  return { own, rates: own === undefined ? listed(model) : mainRatesOf(own) };
}

export function mainRatesOf({ rates }: Pick<OwnPrice, "rates">): MainRates {
  const { input = null, cache_read = null, cache_write_5m = null, output = null } = rates;
  return { input, cache_read, cache_write_5m, output };
}

function listed(model: KnownModel): MainRates {
  return {
    input: model.input_cost,
    cache_read: model.cache_read_cost,
    cache_write_5m: model.cache_write_cost,
    output: model.output_cost,
  };
}
