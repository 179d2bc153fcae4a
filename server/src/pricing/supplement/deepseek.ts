import { from, tokens, type Row, type Sheet } from "./sheet.ts";

/**
 * Peak hours are 01:00 to 04:00 and 06:00 to 10:00 UTC from Monday to Friday, and cost twice as much. Public holidays
 * in China have no peak hours but are not known here: they are priced as working days.
 */
function isPeak(ms: number): boolean {
  const at = new Date(ms);
  const [day, hour] = [at.getUTCDay(), at.getUTCHours()];
  return day >= 1 && day <= 5 && ((hour >= 1 && hour < 4) || (hour >= 6 && hour < 10));
}

const since = (time: string, isAlso: (ms: number) => boolean) => {
  const hasStarted = from(time);
  return (ms: number): boolean => hasStarted(ms) && isAlso(ms);
};

type Later = NonNullable<Row["later"]>;

const peakPricing = "2026-08-16T16:00:00Z";
const flash41 = "2026-09-10T04:00:00Z";

const flashSincePeaks: Later = [
  { holdsAt: from(peakPricing), rates: tokens(0.22, 0.66, 0.007) },
  { holdsAt: since(peakPricing, isPeak), rates: tokens(0.44, 1.32, 0.014) },
  { holdsAt: from(flash41), rates: tokens(0.15, 0.6, 0.003) },
  { holdsAt: since(flash41, isPeak), rates: tokens(0.3, 1.2, 0.006) },
];

/**
 * `deepseek-chat` and `deepseek-reasoner` were aliases of the newest model until July 2026:
 * https://api-docs.deepseek.com/updates
 */
const sinceV31: Later = [
  { holdsAt: from("2025-09-05T16:00:00Z"), rates: tokens(0.56, 1.68, 0.07) },
  { holdsAt: from("2025-09-29"), rates: tokens(0.28, 0.42, 0.028) },
  { holdsAt: from("2026-04-24"), rates: tokens(0.14, 0.28, 0.0028) },
];

/** Until September 2025 these hours were cheaper. */
const isNight = (ms: number): boolean => {
  const minute = (ms / 60_000) % 1440;
  return minute >= 990 || minute < 30;
};

export const deepseek: Sheet = {
  provider: "deepseek",
  source: "https://api-docs.deepseek.com/quick_start/pricing",
  rows: [
    {
      models: ["deepseek-flash", "deepseek-v4-flash", "deepseek-v4-flash-vision-exp"],
      rates: tokens(0.14, 0.28, 0.0028),
      later: flashSincePeaks,
    },
    {
      models: ["deepseek-v4-pro"],
      rates: tokens(0.435, 0.87, 0.003625),
      later: [
        { holdsAt: from(peakPricing), rates: tokens(0.66, 1.98, 0.022) },
        { holdsAt: since(peakPricing, isPeak), rates: tokens(1.32, 3.96, 0.044) },
      ],
    },
    { models: ["deepseek-v3.2", "deepseek-v3.2-exp"], rates: tokens(0.28, 0.42, 0.028) },
    { models: ["deepseek-v3"], rates: tokens(0.27, 1.1, 0.07) },
    {
      models: ["deepseek-chat"],
      rates: tokens(0.27, 1.1, 0.07),
      later: [{ holdsAt: isNight, rates: tokens(0.135, 0.55, 0.035) }, ...sinceV31],
    },
    {
      models: ["deepseek-reasoner"],
      rates: tokens(0.55, 2.19, 0.14),
      later: [{ holdsAt: isNight, rates: tokens(0.135, 0.55, 0.035) }, ...sinceV31],
    },
  ],
};
