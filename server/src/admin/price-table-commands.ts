import { readFile } from "node:fs/promises";
import { ServiceError } from "../domain/errors.ts";
import { domainLimits } from "../domain/limits.ts";
import { pricingLimits } from "../pricing/limits.ts";
import { createOwnPrices } from "../pricing/own/own-prices.ts";
import { readPriceFile } from "../pricing/own/price-file.ts";
import { createPriceBook, type PriceBook } from "../pricing/price-book.ts";
import { readUsageObject } from "../pricing/usage-object.ts";
import { UsageError, type AdminContext, type Command, type Options } from "./command.ts";
import { notePriceChange } from "./price-commands.ts";

const seen = `running servers use it within ${pricingLimits.modelPriceRefreshMs / 1000 + 1} seconds`;
const dayMs = 24 * 60 * 60 * 1000;

export const priceTableCommands: Command[] = [
  {
    name: "prices update",
    summary: `load a newer price file of genai-prices or LiteLLM; ${seen}`,
    argument: {
      name: "FILE",
      description: "prices/data.json of genai-prices, or model_prices_and_context_window.json of LiteLLM",
    },
    options: { date: { value: "YYYY-MM-DD", description: "of the file, for receipts; today by default" } },
    run: async (context, options) => {
      const content = await readText(options.text("FILE"));
      const loaded_at = new Date(context.nowMs()).toISOString();
      const date = options.optional("date") ?? loaded_at.slice(0, 10);
      if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date)))
        throw new UsageError("--date must be YYYY-MM-DD");
      const { format, models } = readPriceFile(content, "file");
      const name = `${format}@${date}`;
      const table = await context.stores.transaction(({ priceTables }) =>
        priceTables.add({ name, format, models, content, loaded_at }),
      );
      await notePriceChange(context, null, { action: "prices update", target: name, changes: { models } });
      return table;
    },
  },
  {
    name: "prices revert",
    summary: `remove the price file that was loaded last; ${seen.replace("use it", "use the previous one")}`,
    options: {},
    run: async (context) => {
      const removed = await context.stores.transaction(({ priceTables }) => priceTables.removeNewest());
      if (removed === undefined)
        throw new ServiceError("not_found", "No price file is loaded: the built-in table is in use.");
      await notePriceChange(context, null, { action: "prices revert", target: removed.name });
      return removed;
    },
  },
  {
    name: "prices files",
    summary:
      "list the price files that were loaded, newest first: the first of each format is in use, then the built-in table",
    options: {},
    run: ({ stores }) => stores.priceTables.list(),
  },
  {
    name: "prices check",
    summary:
      "list the models in use that have no price (with the store inside the process, the server must be stopped)",
    options: {
      days: { value: "DAYS", description: "how far back to look; 30 by default" },
      organization: { value: "ID", description: "of one organization only" },
    },
    run: async (context, options) => await findUnpriced(context, options),
  },
];

async function findUnpriced({ stores, nowMs, listUnpriced }: AdminContext, options: Options) {
  const days = Number(options.optional("days") ?? "30");
  if (!(days > 0 && days <= domainLimits.retentionDaysMax)) throw new UsageError("--days must be a number of days");
  const wanted = options.optional("organization");
  const all = (await stores.organizations.list()).map(({ unique_organization_id: id }) => id);
  const ids = wanted === undefined ? all : all.filter((id) => id === wanted);
  if (wanted !== undefined && ids.length === 0)
    throw new ServiceError("not_found", `There is no organization ${wanted}.`);
  const own = createOwnPrices({ ...stores, onUnreadable: () => undefined });
  await own.refresh();
  const prices = createPriceBook({ maxModels: pricingLimits.pricedModels, own });
  const found = await listUnpriced(ids, nowMs() - days * dayMs);
  return found.map(({ organizationId, model, provider_id, spans, last_timestamp }) => ({
    organization: organizationId,
    model,
    provider: provider_id,
    spans,
    last: last_timestamp.slice(0, 19),
    price: hasPrice(prices, organizationId, model, provider_id, nowMs()) ? "has one now: reprice" : "none",
  }));
}

function hasPrice(prices: PriceBook, organizationId: string, model: string, provider: string, atMs: number): boolean {
  const usage = readUsageObject({ prompt_tokens: 1, completion_tokens: 1 });
  const timestampNs = BigInt(atMs) * 1_000_000n;
  return (
    usage !== undefined && prices.price({ organizationId, model, provider, usage, timestampNs }).costUsd !== undefined
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new ServiceError(
      "not_found",
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
