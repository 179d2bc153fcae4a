import { from, tokens, type Row, type Sheet } from "./sheet.ts";

const sonnet55: Row = {
  models: ["claude-sonnet-5-5", "claude-5-5-sonnet"],
  rates: tokens(2, 10, 0.1, 2.5, 4),
};
const haiku55: Row = {
  models: ["claude-haiku-5-5", "claude-5-5-haiku"],
  rates: tokens(0.1, 0.5, 0.01, 0.125, 0.2),
  long: { above: 100_000, rates: tokens(0.5, 2.5, 0.05, 0.625, 1) },
};
const fable52: Row = { models: ["claude-fable-5-2"], rates: tokens(8, 40, 0.2, 10, 16) };
const mythos51: Row = { models: ["claude-mythos-5-1"], rates: tokens(10, 50, 0.25, 12.5, 20) };
const fable51: Row = { ...mythos51, models: ["claude-fable-5-1"] };
const mythos5: Row = { models: ["claude-mythos-5"], rates: tokens(10, 50, 1, 12.5, 20) };
const fable5: Row = { ...mythos5, models: ["claude-fable-5"] };

const opus55: Row = { models: ["claude-opus-5-5"], rates: tokens(4, 20, 0.2, 5, 8) };
const opus5: Row = { models: ["claude-opus-5", "claude-opus-4-8"], rates: tokens(5, 25, 0.5, 6.25, 10) };
const sonnet5: Row = { models: ["claude-sonnet-5"], rates: tokens(2, 10, 0.2, 2.5, 4) };
const sonnet45: Row = { models: ["claude-sonnet-4-5"], rates: tokens(3, 15, 0.3, 3.75, 6) };

/** Adds the web search fee for a model that the packaged table does not have yet. */
const withSearch = (row: Row): Row => ({
  ...row,
  rates: { ...row.rates, web_search: 0.01 },
  ...(row.long && { long: { ...row.long, rates: { ...row.long.rates, web_search: 0.01 } } }),
});

const onBedrock = (row: Row, geo = ""): Row => ({
  ...row,
  models: row.models.map((model) => `${geo}anthropic.${model}`),
});

export const anthropic: readonly Sheet[] = [
  {
    provider: "anthropic",
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
    rows: [sonnet55, haiku55, fable52, mythos51, mythos5].map(withSearch),
  },
  {
    provider: "google",
    source: "https://cloud.google.com/vertex-ai/generative-ai/pricing",
    rows: [
      // Since 2026-03-13, when the window of a million tokens left beta, long prompts cost no more.
      {
        models: ["claude-opus-4-6"],
        rates: tokens(5, 25, 0.5, 6.25),
        long: { above: 200_000, rates: tokens(10, 37.5, 1, 12.5) },
        later: [{ holdsAt: from("2026-03-13"), rates: tokens(5, 25, 0.5, 6.25, 10) }],
      },
    ],
  },
  {
    provider: "aws",
    source: "https://aws.amazon.com/bedrock/pricing/",
    geoFactor: 1.1,
    rows: [sonnet55, haiku55, fable52, fable51, fable5, mythos51, mythos5].map((row) => onBedrock(row)),
  },
  // GovCloud costs more than the other geographies.
  {
    provider: "aws",
    source: "https://aws.amazon.com/bedrock/pricing/",
    geoFactor: 1.2,
    rows: [opus55, opus5, sonnet55, sonnet5, sonnet45, haiku55, fable51].map((row) => onBedrock(row, "us-gov.")),
  },
];
