import { bedrockGeo, bedrockPrefix } from "../../domain/model-name.ts";
import type { Rates } from "../buckets.ts";
import { withoutDate } from "../model-names.ts";
import type { PriceEntry, PricePeriod, PriceTable } from "../price-entry.ts";
import { anthropic } from "./anthropic.ts";
import { deepseek } from "./deepseek.ts";
import { hosts } from "./hosts.ts";
import { makers } from "./makers.ts";
import type { Row, Sheet } from "./sheet.ts";

/** When the sheets were last compared with their sources, for receipts. */
const checkedOn = "2026-11-29";

/** Clouds that sell what is new at the price of its maker, as the packaged table has it. */
const sellsFor: Readonly<Record<string, readonly string[]>> = {
  azure: ["openai", "anthropic", "deepseek", "x-ai", "moonshotai"],
  google: ["anthropic"],
};

/**
 * Prices that the packaged table lacks or has wrong, with their source. `scripts/compare-prices.ts` says which differ from a
 * second table; what is corrected there stands here.
 */
export function supplementTable(): PriceTable {
  const sheets = new Map<string, Map<string, readonly [Sheet, Row]>>();
  for (const sheet of [...anthropic, deepseek, ...makers, ...hosts]) {
    const rows = sheets.get(sheet.provider) ?? new Map<string, readonly [Sheet, Row]>();
    sheets.set(sheet.provider, rows);
    for (const row of sheet.rows) for (const name of namesOf(sheet, row)) rows.set(name, [sheet, row]);
  }
  return {
    name: "spanway",
    hasProvider: (provider) => sheets.has(provider),
    find(provider, model) {
      const { name, isGlobal } = plainName(provider, model.toLowerCase());
      for (const seller of [provider, ...(sellsFor[provider] ?? [])]) {
        const rows = sheets.get(seller);
        const listed = rows?.has(name) ? name : withoutDate(name);
        const [sheet, row] = rows?.get(listed) ?? [];
        if (sheet === undefined || row === undefined) continue;
        return entryOf(`${provider}/${listed}`, sheet, row, isGlobal ? 1 : (sheet.geoFactor ?? 1));
      }
      return undefined;
    },
  };
}

/** Bedrock's names are also used without their vendor. */
function namesOf({ geoFactor }: Sheet, { models }: Row): readonly string[] {
  return geoFactor === undefined ? models : [...models, ...models.map((model) => model.replace(bedrockPrefix, ""))];
}

/** As the sheets spell it: Claude's numbers have dashes; Bedrock's names begin with a geography and end with a version. */
function plainName(provider: string, model: string): { name: string; isGlobal: boolean } {
  const spelled = model.includes("claude") ? model.replace(/(?<=\d)\.(?=\d)/g, "-") : model;
  if (provider !== "aws") return { name: spelled, isGlobal: false };
  const name = spelled.replace(bedrockGeo, "").replace(/-v\d+(:\d+(:\d+k)?)?$/, "");
  return { name, isGlobal: spelled.startsWith("global.") };
}

function entryOf(place: string, { source }: Sheet, row: Row, factor: number): PriceEntry {
  const slash = place.indexOf("/");
  const scaled = (rates: Rates): Rates =>
    factor === 1 ? rates : Object.fromEntries(Object.entries(rates).map(([bucket, rate]) => [bucket, rate * factor]));
  const stepsOf = ({ rates, long }: Pick<Row, "rates" | "long">): PricePeriod["steps"] => [
    { above: -1, rates: scaled(rates) },
    ...(long === undefined ? [] : [{ above: long.above, rates: scaled(long.rates) }]),
  ];
  return {
    provider: place.slice(0, slash),
    model: place.slice(slash + 1),
    source: `${row.source ?? source}@${checkedOn} ${place}`,
    periods: [
      { holdsAt: () => true, steps: stepsOf(row) },
      ...(row.later ?? []).map((price) => ({ holdsAt: price.holdsAt, steps: stepsOf(price) })),
    ],
  };
}
