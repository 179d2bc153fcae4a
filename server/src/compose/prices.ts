import type { Logger } from "pino";
import type { SpanCounter } from "../counting/span-counter.ts";
import { createSpendCorrections } from "../customers/spend-corrections.ts";
import { createRepricing, type SpanRepricing } from "../jobs/reprice-spans.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { pricingLimits } from "../pricing/limits.ts";
import { createPriceChanges, type PriceChanges } from "../pricing/own/change-prices.ts";
import { createOwnPrices, type OwnPriceCache } from "../pricing/own/own-prices.ts";
import { createPriceBook, type PriceBook } from "../pricing/price-book.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

export type Prices = {
  /** The price book for every cost. */
  prices: PriceBook;
  ownPrices: OwnPriceCache;
  priceChanges: PriceChanges;
};

/** Model prices: an organization's or the instance's own first, then loaded tables, then the built-in one. */
export async function composePrices({
  stores,
  logger,
  cleanup,
  now,
}: {
  stores: ControlStores;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
}): Promise<Prices> {
  const ownPrices = createOwnPrices({
    ...stores,
    onUnreadable: ({ name }, error) => logger.error({ err: error, table: name }, "a loaded price table is unreadable"),
  });
  await ownPrices.refresh();
  const watch = scheduleJob({ name: "model prices", everyMs: pricingLimits.modelPriceRefreshMs, logger }, () =>
    ownPrices.refresh(),
  );
  cleanup.push(() => watch.stop());
  const prices = createPriceBook({ maxModels: pricingLimits.pricedModels, own: ownPrices });
  return { prices, ownPrices, priceChanges: createPriceChanges({ stores, now }) };
}

/** Reprices stored spans. */
export function composeRepricing(deps: {
  stores: ControlStores;
  spans: SpanStore;
  prices: PriceBook;
  counter: Pick<SpanCounter, "recount">;
  now: () => number;
}): SpanRepricing {
  return createRepricing({ ...deps, leases: deps.stores.leases, corrections: createSpendCorrections(deps) });
}
