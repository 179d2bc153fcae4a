import type { Rates } from "../buckets.ts";
import { from, tokens, type Sheet } from "./sheet.ts";

/** Adds the fee of OpenAI's search tool, for a model that the packaged table does not have yet. */
const searched = (rates: Rates): Rates => ({ ...rates, web_search: 0.01 });

const openai: Sheet = {
  provider: "openai",
  source: "https://developers.openai.com/api/docs/pricing",
  rows: [
    {
      models: ["gpt-6.2-astra"],
      rates: searched(tokens(8, 40, 0.4, 10)),
      long: { above: 272_000, rates: searched(tokens(16, 60, 0.8, 20)) },
    },
    {
      models: ["gpt-6.1-sol", "gpt-6.2-sol"],
      rates: searched(tokens(2, 10, 0.1, 2.5)),
      long: { above: 272_000, rates: searched(tokens(4, 15, 0.2, 5)) },
    },
    {
      models: ["gpt-6.1-terra"],
      rates: searched(tokens(1, 5, 0.05, 1.25)),
      long: { above: 272_000, rates: searched(tokens(2, 7.5, 0.1, 2.5)) },
    },
    { models: ["gpt-6-cyber"], rates: tokens(20, 100, 2, 25) },
    {
      models: ["gpt-6-rosalind"],
      rates: tokens(15, 75, 1.5, 18.75),
      long: { above: 272_000, rates: tokens(30, 112.5, 3, 37.5) },
    },
    {
      models: ["gpt-daybreak-blue-latest"],
      rates: tokens(4, 20, 0.4, 5),
      long: { above: 272_000, rates: tokens(8, 30, 0.8, 10) },
    },
    { models: ["gpt-rosalind-discovery", "gpt-rosalind-research"], rates: tokens(5, 25, 0.5) },
    { models: ["gpt-5.6-cyber"], rates: tokens(12.5, 75, 1.25, 15.625) },
    {
      models: ["gpt-5.5-cyber"],
      rates: tokens(12.5, 75),
      later: [{ holdsAt: from("2026-10-19"), rates: tokens(12.5, 75, 1.25) }],
    },
    { models: ["gpt-5-search-api"], rates: tokens(1.25, 10, 0.125) },
    { models: ["gpt-4o-mini-transcribe"], rates: { ...tokens(1.25, 5), input_audio: 3 } },
    {
      models: ["chatgpt-image-latest"],
      rates: { ...tokens(5, 10, 1.25), input_image: 8, cache_read_image: 2, output_image: 32 },
    },
    {
      models: ["gpt-image-2.5-flare", "gpt-image-2.5-sunburst"],
      rates: { ...tokens(5, 30, 1.25), input_image: 8, cache_read_image: 2 },
    },
    { models: ["davinci-002"], rates: tokens(2, 2) },
    { models: ["babbage-002"], rates: tokens(0.4, 0.4) },
    { models: ["gpt-live-transcribe"], rates: { audio_second: 1.02 / 3600 } },
    {
      models: ["tts-1"],
      rates: { character: 15e-6 },
      source: "https://developers.openai.com/api/docs/models/tts-1",
    },
    {
      models: ["tts-1-hd"],
      rates: { character: 30e-6 },
      source: "https://developers.openai.com/api/docs/models/tts-1-hd",
    },
    {
      models: ["omni-moderation-latest", "omni-moderation", "text-moderation-latest"],
      rates: { input: 0, output: 0 },
      source: "https://developers.openai.com/api/docs/guides/moderation",
    },
  ],
};

const google: Sheet = {
  provider: "google",
  source: "https://ai.google.dev/gemini-api/docs/pricing",
  rows: [
    {
      models: ["gemini-4-argon", "gemini-4-argon-preview"],
      rates: tokens(2, 10, 0.1),
      later: [{ holdsAt: from("2026-12-01"), rates: tokens(4, 20, 0.2) }],
    },
    { models: ["gemini-4-neon"], rates: tokens(3, 15, 0.15) },
    { models: ["gemini-4-hydrogen"], rates: tokens(1.5, 7.5, 0.075) },
    { models: ["gemini-omni-1.1-flash"], rates: { ...tokens(1.5, 9), output_video: 17.5 } },
    {
      models: ["gemini-3.8-live", "gemini-3.8-live-extended-thinking"],
      rates: { ...tokens(0.75, 4.5), input_audio: 3, input_image: 1, input_video: 1, output_audio: 12 },
    },
    {
      models: ["gemini-3.8-flash-tts"],
      rates: tokens(0.5, 9),
      later: [{ holdsAt: from("2027-01-01"), rates: tokens(1, 18) }],
    },
    {
      models: ["gemini-3.8-flash-lite-tts"],
      rates: tokens(0.5, 6),
      later: [{ holdsAt: from("2027-01-01"), rates: tokens(1, 12) }],
    },
    { models: ["gemini-3.1-flash-tts-preview"], rates: tokens(1, 20) },
    {
      models: ["gemini-2.5-computer-use-preview-10-2025"],
      rates: tokens(1.25, 10),
      long: { above: 200_000, rates: tokens(2.5, 15) },
    },
    { models: ["gemini-2.5-flash-image"], rates: { ...tokens(0.3, 2.5, 0.03), output_image: 30 } },
    { models: ["gemini-nano-banana-2.1"], rates: { ...tokens(1.5, 7.5), output_image: 30 } },
    {
      models: ["gemini-robotics-er-2-preview"],
      rates: tokens(1, 5, 0.1),
      later: [{ holdsAt: from("2027-01-01"), rates: tokens(2, 10, 0.2) }],
    },
    {
      models: ["gemini-robotics-er-2-streaming-preview"],
      rates: tokens(1, 5),
      later: [{ holdsAt: from("2027-01-01"), rates: tokens(2, 10) }],
    },
    {
      models: ["gemini-live-2.5-flash"],
      rates: { ...tokens(0.5, 2), input_audio: 3, input_image: 3, input_video: 3, output_audio: 12 },
    },
  ],
};

const grok420 = {
  rates: tokens(2, 6, 0.2),
  long: { above: 199_999, rates: tokens(4, 12, 0.4) },
  later: [
    {
      holdsAt: from("2026-04-30"),
      rates: tokens(1.25, 2.5, 0.2),
      long: { above: 199_999, rates: tokens(2.5, 5, 0.4) },
    },
  ],
};

const xAi: Sheet = {
  provider: "x-ai",
  source: "https://docs.x.ai/docs/models",
  rows: [
    {
      models: ["grok-4.7", "grok-4.7-latest"],
      rates: tokens(2, 6, 0.5),
      long: { above: 199_999, rates: tokens(4, 12, 1) },
    },
    {
      // xAI's suffixes of this model: https://api.x.ai/v1/language-models
      models: ["", "-reasoning", "-non-reasoning", "-multi-agent"].flatMap((kind) =>
        ["", "-latest", "-0309", "-beta", "-beta-0309", "-beta-latest"].map((version) => `grok-4.20${kind}${version}`),
      ),
      ...grok420,
    },
    {
      models: ["reasoning", "non-reasoning"].flatMap((kind) => [
        `grok-4.20-0309-${kind}`,
        `grok-4.20-beta-${kind}`,
        `grok-4.20-beta-0309-${kind}`,
        `grok-4.20-beta-latest-${kind}`,
      ]),
      ...grok420,
    },
    // Since it was retired, its requests are served by Grok Build.
    {
      models: ["grok-code-fast-1", "grok-code-fast", "grok-code-fast-1-0825"],
      rates: tokens(0.2, 1.5, 0.02),
      source: "https://docs.x.ai/developers/migration/may-15-retirement",
      later: [
        {
          holdsAt: from("2026-05-15T19:00:00Z"),
          rates: tokens(1, 2, 0.2),
          long: { above: 199_999, rates: tokens(2, 4, 0.4) },
        },
      ],
    },
  ],
};

/**
 * Cached tokens cost a tenth of the input: https://docs.mistral.ai/inference/pricing. The rule is in `surcharges.ts`.
 */
const mistral: Sheet = {
  provider: "mistral",
  source: "https://docs.mistral.ai/inference/pricing",
  rows: [
    {
      models: ["mistral-large-4", "mistral-large-4-0"],
      rates: tokens(0.68, 2.09, 0.07),
      source: "https://docs.mistral.ai/models/mistral-large-4-0",
      later: [
        { holdsAt: from("2026-10-20"), rates: tokens(1.36, 4.18, 0.14) },
        { holdsAt: from("2026-10-29"), rates: tokens(0.7, 2.1, 0.07) },
      ],
    },
    // Aliases that Mistral moved to newer models.
    {
      models: ["mistral-medium", "mistral-medium-2604", "magistral-medium-latest"],
      rates: tokens(1.5, 7.5),
      source: "https://docs.mistral.ai/models/mistral-medium-3-5-26-04",
    },
    {
      models: ["magistral-small-latest"],
      rates: tokens(0.15, 0.6),
      source: "https://docs.mistral.ai/models/model-cards/mistral-small-4-0-26-03",
    },
    {
      models: ["mistral-small-latest"],
      rates: tokens(0.1, 0.3),
      source: "https://docs.mistral.ai/models/model-cards/mistral-small-4-0-26-03",
      later: [{ holdsAt: from("2026-03-16"), rates: tokens(0.15, 0.6) }],
    },
    { models: ["mistral-small-2506", "mistral-small-3.2-24b-instruct"], rates: tokens(0.1, 0.3) },
    {
      models: ["mistral-large-latest", "mistral-large-3"],
      rates: tokens(0.5, 1.5),
      source: "https://docs.mistral.ai/models/mistral-large-3-25-12",
    },
    { models: ["codestral-embed", "codestral-embed-2505"], rates: tokens(0.15) },
    { models: ["deepseek-v4-1-flash-1017"], rates: tokens(0.3, 1.2, 0.007) },
    { models: ["zai-glm-5-3", "zai-glm-5-2", "glm-5-2"], rates: tokens(1.4, 4.4, 0.14) },
    { models: ["zai-glm-5-3-flash"], rates: tokens(0.15, 0.5, 0.03) },
  ],
};

const moonshotai: Sheet = {
  provider: "moonshotai",
  source: "https://platform.kimi.ai/docs/pricing/chat",
  rows: [
    { models: ["kimi-k3.1-pro"], rates: tokens(2, 10, 0.2, 2, 4) },
    { models: ["kimi-k3.1-pro-highspeed"], rates: tokens(4, 20, 0.2, 4, 8) },
    { models: ["kimi-k3"], rates: tokens(3, 15, 0.3, 3, 6) },
  ],
};

const zai: Sheet = {
  provider: "zai",
  source: "https://docs.z.ai/guides/overview/pricing",
  rows: [
    { models: ["glm-4-32b-0414-128k"], rates: tokens(0.1, 0.1) },
    { models: ["glm-4.5", "glm-4.6", "glm-4.7"], rates: tokens(0.6, 2.2, 0.11) },
    { models: ["glm-4.5-air"], rates: tokens(0.2, 1.1, 0.03) },
    { models: ["glm-4.5-airx"], rates: tokens(1.1, 4.5, 0.22) },
    { models: ["glm-4.5-x"], rates: tokens(2.2, 8.9, 0.45) },
    { models: ["glm-4.5v"], rates: tokens(0.6, 1.8, 0.11) },
    { models: ["glm-4.6v"], rates: tokens(0.3, 0.9, 0.05) },
    { models: ["glm-4.6v-flashx"], rates: tokens(0.04, 0.4, 0.004) },
    { models: ["glm-4.7-flashx"], rates: tokens(0.07, 0.4, 0.01) },
    { models: ["glm-5"], rates: tokens(1, 3.2, 0.2) },
    { models: ["glm-5.1"], rates: tokens(1.4, 4.4, 0.26) },
    {
      models: ["glm-5.3-flash"],
      rates: tokens(0.075, 0.25, 0.015),
      later: [{ holdsAt: from("2026-09-10"), rates: tokens(0.15, 0.5, 0.03) }],
    },
  ],
};

const perplexity: Sheet = {
  provider: "perplexity",
  source: "https://docs.perplexity.ai/docs/getting-started/pricing",
  rows: [
    { models: ["pplx-decider-flash-v1.2", "pplx-decider-flash-latest"], rates: tokens(0.01) },
    {
      models: ["pplx-decider-v1-27b", "pplx-decider-v1.1-27b", "pplx-decider-v1.2", "pplx-decider-latest"],
      rates: tokens(0.02),
    },
    { models: ["pplx-embed-v1-0.6b"], rates: tokens(0.004) },
    { models: ["pplx-embed-v1-4b"], rates: tokens(0.03) },
    { models: ["pplx-embed-context-v1-0.6b"], rates: tokens(0.008) },
    { models: ["pplx-embed-context-v1-4b"], rates: tokens(0.05) },
  ],
};

const museSpark: Rates = { ...tokens(1.25, 4.25, 0.15), web_search: 0.0025 };

const meta: Sheet = {
  provider: "meta",
  source: "https://dev.meta.ai/docs/pricing-rate-limits",
  rows: [
    { models: ["muse-spark-1.1", "muse-spark-1.2", "muse-spark-1.3"], rates: museSpark },
    {
      models: ["muse-spark-1.2-contributor", "muse-spark-1.3-contributor"],
      rates: { ...tokens(0.1, 0.2, 0.002), web_search: 0.0025 },
    },
    { models: ["muse-wonder-1.0"], rates: { ...tokens(4, 20, 0.2), web_search: 0.0025 } },
  ],
};

export const makers: readonly Sheet[] = [
  openai,
  google,
  xAi,
  mistral,
  moonshotai,
  zai,
  perplexity,
  meta,
  {
    provider: "voyageai",
    source: "https://docs.voyageai.com/docs/pricing",
    rows: [{ models: ["voyage-code-4", "voyage-context-4"], rates: tokens(0.12) }],
  },
  {
    provider: "minimax",
    source: "https://platform.minimax.io/docs/pricing/overview",
    rows: [{ models: ["minimax-m3.1-flash"], rates: tokens(0.15, 0.6, 0.015) }],
  },
  {
    provider: "cohere",
    source: "https://cohere.com/pricing",
    rows: [
      { models: ["embed-v5.0-fast"], rates: tokens(0.08) },
      { models: ["embed-v5.0-pro"], rates: tokens(0.12) },
    ],
  },
];
