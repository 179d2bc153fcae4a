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

/** Clouds that sell models at the price of their maker. */
const sellsFor: ReadonlyMap<string, readonly string[]> = new Map([
  ["azure", ["openai", "anthropic"]],
  ["google", ["anthropic"]],
]);

/**
 * Prices that the packaged table lacks or has wrong, with their source. `scripts/compare-prices.ts` reports differences
 * from a second table; corrections are entered here.
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
      const names = spellingsOf(provider, model.toLowerCase());
      for (const seller of [provider, ...(sellsFor.get(provider) ?? [])]) {
        const rows = sheets.get(seller);
        const listed = names.find(({ name }) => rows?.has(name));
        const [sheet, row] = rows?.get(listed?.name ?? "") ?? [];
        if (listed === undefined || sheet === undefined || row === undefined) continue;
        const factor = factorOf(sheet, listed.geo);
        if (factor !== undefined) return entryOf(`${provider}/${listed.name}`, sheet, row, factor);
      }
      return undefined;
    },
  };
}

/** Bedrock's names are also used without their vendor. */
function namesOf({ geoFactor }: Sheet, { models }: Row): readonly string[] {
  if (geoFactor === undefined) return models;
  return [...models, ...models.filter((name) => !bedrockGeo.test(name)).map((name) => name.replace(bedrockPrefix, ""))];
}

type Spelling = { name: string; geo: string };

/**
 * The spellings that the sheets may use: without the date; for Bedrock also without geography and version; Claude's
 * numbers with dashes.
 */
function spellingsOf(provider: string, model: string): readonly Spelling[] {
  const spelled = model.includes("claude") ? model.replace(/(?<=\d)\.(?=\d)/g, "-") : model;
  if (provider !== "aws") return [spelled, withoutDate(spelled)].map((name) => ({ name, geo: "" }));
  const geo = bedrockGeo.exec(spelled)?.[1] ?? "";
  const inGeo = geo === "" ? [] : [{ name: spelled, geo: "" }];
  return [...inGeo, { name: spelled.replace(bedrockGeo, ""), geo }].flatMap(({ name, geo: of }) => {
    const versionless = name.replace(/-v\d+(:\d+(:\d+k)?)?$/, "");
    return [name, versionless, withoutDate(versionless)].map((one) => ({ name: one, geo: of }));
  });
}

/** Prices without a factor are those of the United States and do not apply to other geographies. */
function factorOf({ geoFactor }: Sheet, geo: string): number | undefined {
  if (geoFactor !== undefined) return geo === "global" ? 1 : geoFactor;
  return geo === "" || geo === "us" ? 1 : undefined;
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
