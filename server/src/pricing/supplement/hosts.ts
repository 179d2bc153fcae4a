import { from, tokens, type Row, type Sheet } from "./sheet.ts";

/** Bedrock sells these at the maker's price from its global endpoint, and for a tenth more in a geography. */
const bedrockByGeo: readonly Row[] = [
  {
    models: ["openai.gpt-6-astra"],
    rates: tokens(10, 50, 1, 12.5),
    long: { above: 272_000, rates: tokens(20, 75, 2, 25) },
  },
  {
    models: ["openai.gpt-6-sol"],
    rates: tokens(2, 10, 0.2, 2.5),
    long: { above: 272_000, rates: tokens(4, 15, 0.4, 5) },
  },
  {
    models: ["openai.gpt-6-luna"],
    rates: tokens(0.1, 0.5, 0.01, 0.125),
    long: { above: 272_000, rates: tokens(0.2, 0.75, 0.02, 0.25) },
  },
  {
    models: ["openai.gpt-6.1-sol"],
    rates: tokens(2, 10, 0.1, 2.5),
    long: { above: 272_000, rates: tokens(4, 15, 0.2, 5) },
  },
  {
    models: ["openai.gpt-6.1-terra"],
    rates: tokens(1, 5, 0.05, 1.25),
    long: { above: 272_000, rates: tokens(2, 7.5, 0.1, 2.5) },
  },
  { models: ["moonshotai.kimi-k3"], rates: tokens(3, 15, 0.3, 3.75) },
  { models: ["moonshotai.kimi-k3.1"], rates: tokens(4, 20, 0.2, 5) },
  { models: ["zai.glm-5.3"], rates: tokens(1.68, 5.28, 0.312, 2.1) },
  { models: ["xai.grok-4.6", "xai.grok-4.7"], rates: tokens(2, 6, 0.5) },
];

const aws: readonly Sheet[] = [
  { provider: "aws", source: "https://aws.amazon.com/bedrock/pricing/", geoFactor: 1.1, rows: bedrockByGeo },
  {
    provider: "aws",
    source: "https://aws.amazon.com/bedrock/pricing/",
    rows: [
      { models: ["amazon.titan-embed-text-v2:0"], rates: tokens(0.02) },
      { models: ["apac.amazon.nova-micro"], rates: tokens(0.037, 0.148, 0.00925) },
      { models: ["apac.amazon.nova-lite"], rates: tokens(0.063, 0.252, 0.01575) },
      { models: ["apac.amazon.nova-pro"], rates: tokens(0.84, 3.36, 0.21) },
      { models: ["jp.amazon.nova-2-lite"], rates: tokens(0.396, 3.311, 0.099) },
      { models: ["deepseek.v3"], rates: tokens(0.58, 1.68) },
      { models: ["deepseek.v3.2"], rates: tokens(0.62, 1.85) },
      { models: ["moonshot.kimi-k2-thinking"], rates: tokens(0.6, 2.5) },
      { models: ["moonshotai.kimi-k2.5"], rates: tokens(0.6, 3) },
      { models: ["openai.gpt-oss-safeguard-120b"], rates: tokens(0.15, 0.6) },
      { models: ["openai.gpt-oss-safeguard-20b"], rates: tokens(0.07, 0.2) },
      { models: ["minimax.minimax-m2", "minimax.minimax-m2.1", "minimax.minimax-m2.5"], rates: tokens(0.3, 1.2) },
      { models: ["nvidia.nemotron-nano-12b-v2"], rates: tokens(0.2, 0.6) },
      { models: ["qwen.qwen3-235b-a22b-2507"], rates: tokens(0.22, 0.88) },
      { models: ["qwen.qwen3-next-80b-a3b"], rates: tokens(0.15, 1.2) },
      { models: ["qwen.qwen3-coder-next"], rates: tokens(0.5, 1.2) },
      { models: ["zai.glm-4.7-flash"], rates: tokens(0.07, 0.4) },
      { models: ["zai.glm-4.7"], rates: tokens(0.6, 2.2) },
      { models: ["zai.glm-5"], rates: tokens(1, 3.2) },
    ],
  },
];

/** Azure has its own prices for models of others, which differ from those of their makers. */
const azure: Sheet = {
  provider: "azure",
  source: "https://prices.azure.com/api/retail/prices",
  rows: [
    { models: ["o4-mini"], rates: tokens(1.1, 4.4, 0.275) },
    { models: ["chat-latest"], rates: tokens(5, 30, 0.5) },
    { models: ["gpt-oss-120b"], rates: tokens(0.15, 0.6) },
    { models: ["phi-4"], rates: tokens(0.125, 0.5) },
    { models: ["phi-4-mini-instruct"], rates: tokens(0.075, 0.3) },
    { models: ["phi-4-multimodal-instruct"], rates: { ...tokens(0.08, 0.32), input_audio: 4 } },
    { models: ["deepseek-r1"], rates: tokens(1.35, 5.4) },
    { models: ["deepseek-v3-0324"], rates: tokens(1.14, 4.56) },
    { models: ["deepseek-v3.2", "deepseek-v3.2-speciale"], rates: tokens(0.58, 1.68) },
    { models: ["deepseek-v4-flash"], rates: tokens(0.19, 0.51, 0.028) },
    { models: ["deepseek-v4-pro"], rates: tokens(1.74, 3.48, 0.145) },
    { models: ["grok-3", "grok-4"], rates: tokens(3, 15) },
    {
      models: [
        "grok-4-fast-reasoning",
        "grok-4-fast-non-reasoning",
        "grok-4-1-fast-reasoning",
        "grok-4-1-fast-non-reasoning",
      ],
      rates: tokens(0.2, 0.5),
    },
    {
      models: ["grok-4.3"],
      rates: tokens(1.25, 2.5, 0.2),
      long: { above: 200_000, rates: tokens(2.5, 5, 0.4) },
    },
    {
      models: ["grok-4.6", "grok-4.7"],
      rates: tokens(2, 6, 0.5),
      long: { above: 200_000, rates: tokens(4, 12, 1) },
    },
    { models: ["grok-code-fast-1"], rates: tokens(0.2, 1.5) },
    { models: ["kimi-k2-thinking"], rates: tokens(0.6, 2.5) },
    { models: ["kimi-k2.5"], rates: tokens(0.6, 3) },
    { models: ["kimi-k2.6"], rates: tokens(0.95, 4) },
  ],
};

const together: Sheet = {
  provider: "together",
  source: "https://www.together.ai/pricing",
  rows: [
    { models: ["openai/gpt-oss-120b", "gpt-oss-120b"], rates: tokens(0.15, 0.6) },
    { models: ["openai/gpt-oss-20b", "gpt-oss-20b"], rates: tokens(0.05, 0.2) },
    { models: ["minimaxai/minimax-m3"], rates: tokens(0.3, 1.2, 0.06) },
    { models: ["minimaxai/minimax-m3.1-flash"], rates: tokens(0.15, 0.6, 0.015) },
    { models: ["minimaxai/minimax-m2.7"], rates: tokens(0.3, 1.2, 0.06) },
    { models: ["qwen/qwen2.5-7b-instruct-turbo"], rates: tokens(0.3, 0.3) },
    { models: ["qwen/qwen3.5-9b"], rates: tokens(0.17, 0.25) },
    { models: ["qwen/qwen3.6-plus"], rates: tokens(0.5, 3) },
    { models: ["qwen/qwen3.7-max"], rates: tokens(2.5, 7.5, 0.5) },
    { models: ["qwen/qwen3.7-plus"], rates: tokens(0.32, 1.28) },
    { models: ["qwen/qwen3.8-flash"], rates: tokens(0.15, 0.47) },
    { models: ["qwen/qwen3.8-2.4t-a95b"], rates: tokens(2, 6) },
    { models: ["deepseek-ai/deepseek-v3"], rates: tokens(1.25, 1.25) },
    { models: ["deepseek-ai/deepseek-v4-flash-0731"], rates: tokens(0.14, 0.28, 0.03) },
    { models: ["deepseek-ai/deepseek-v4-pro-0813"], rates: tokens(1.32, 3.96, 0.13) },
    {
      models: ["deepseek-ai/deepseek-v4.1-flash", "deepseek-ai/deepseek-v4.1-flash-1017"],
      rates: tokens(0.3, 1.2, 0.006),
    },
    { models: ["google/gemma-4-31b-it"], rates: tokens(0.39, 0.97) },
    { models: ["meta-models/muse-glimmer-30b"], rates: tokens(0.35, 1.5, 0.04) },
    { models: ["meta-models/muse-spark-open-816b-a42b"], rates: tokens(1.25, 4.25, 0.15) },
    { models: ["moonshotai/kimi-k2-instruct"], rates: tokens(1, 3) },
    { models: ["moonshotai/kimi-k2.5", "moonshotai/kimi-k2.5-fp4"], rates: tokens(0.5, 2.8) },
    { models: ["moonshotai/kimi-k2.6"], rates: tokens(1.2, 4.5, 0.2) },
    { models: ["moonshotai/kimi-k3"], rates: tokens(3, 15, 0.3) },
    { models: ["moonshotai/kimi-k3.1-pro"], rates: tokens(2, 10, 0.2) },
    { models: ["nvidia/nvidia-nemotron-3.5-super-vl"], rates: tokens(0.15, 0.5, 0.02) },
    { models: ["reflection/beam-1.0-501b-a23b"], rates: tokens(0.4, 1.2, 0.04) },
    { models: ["ricursive-ai/ripple-65b-preview"], rates: tokens(0.2, 0.6) },
    { models: ["thinkingmachines/inkling"], rates: tokens(1, 4.05, 0.17) },
    { models: ["zai-org/glm-4.6"], rates: tokens(0.6, 2.2) },
    { models: ["zai-org/glm-4.7"], rates: tokens(0.45, 2) },
    { models: ["zai-org/glm-5"], rates: tokens(1, 3.2) },
    { models: ["zai-org/glm-5.1", "zai-org/glm-5.2", "zai-org/glm-5.3"], rates: tokens(1.4, 4.4, 0.26) },
    { models: ["zai-org/glm-5.3-flash"], rates: tokens(0.15, 0.5, 0.03) },
  ],
};

const atFireworks = (names: readonly string[], kind: "models" | "routers" = "models"): string[] =>
  names.map((name) => `accounts/fireworks/${kind}/${name}`);

const fireworks: Sheet = {
  provider: "fireworks",
  source: "https://docs.fireworks.ai/serverless/pricing",
  rows: [
    { models: atFireworks(["deepseek-v3p1", "deepseek-v3p1-terminus"]), rates: tokens(0.56, 1.68, 0.28) },
    {
      models: atFireworks(["deepseek-v4p1-flash", "deepseek-v4p1-flash-1017"]),
      rates: tokens(0.3, 1.2, 0.006),
    },
    { models: atFireworks(["deepseek-v4-flash-0731"]), rates: tokens(0.22, 0.66, 0.007) },
    { models: atFireworks(["deepseek-v4-pro-0813"]), rates: tokens(1.32, 3.96, 0.044) },
    { models: atFireworks(["deepseek-v4p1-flash-us"], "routers"), rates: tokens(0.45, 1.8, 0.009) },
    { models: atFireworks(["ember-1"]), rates: tokens(3, 15, 0.3) },
    { models: atFireworks(["glm-4p5"]), rates: tokens(0.55, 2.19) },
    { models: atFireworks(["glm-4p5-air"]), rates: tokens(0.22, 0.88) },
    { models: atFireworks(["glm-4p6"]), rates: tokens(0.55, 2.19, 0.28) },
    { models: atFireworks(["glm-4p7"]), rates: tokens(0.6, 2.2, 0.3) },
    { models: atFireworks(["glm-5p3"]), rates: tokens(1.4, 4.4, 0.26) },
    { models: atFireworks(["glm-5p3-fast", "glm-5p3-us"], "routers"), rates: tokens(2.1, 6.6, 0.39) },
    { models: atFireworks(["glm-5p3-flash"]), rates: tokens(0.15, 0.5, 0.03) },
    { models: atFireworks(["glm-5p3-flash-us"], "routers"), rates: tokens(0.225, 0.75, 0.045) },
    {
      models: atFireworks(["gpt-oss-120b"]),
      rates: tokens(0.15, 0.6, 0.014),
      later: [{ holdsAt: from("2026-10-19"), rates: tokens(0.15, 0.6, 0.015) }],
    },
    {
      models: atFireworks(["kimi-k3-us"], "routers"),
      rates: tokens(3.3, 16.5, 0.33),
      later: [{ holdsAt: from("2026-09-01"), rates: tokens(4.5, 22.5, 0.45) }],
    },
    { models: atFireworks(["kimi-k3-spot"], "routers"), rates: tokens(2.1, 10.5, 0.21) },
    { models: atFireworks(["minimax-m3p1-flash"]), rates: tokens(0.15, 0.6, 0.015) },
    { models: atFireworks(["kimi-k3p1-pro"]), rates: tokens(2, 10, 0.2) },
    { models: atFireworks(["muse-spark-open"]), rates: tokens(1.25, 4.25, 0.15) },
    { models: atFireworks(["nemotron-lightning-3p5-30b-a3b"]), rates: tokens(0.05, 0.2, 0.01) },
    { models: atFireworks(["qwen3p8-max"]), rates: tokens(2, 6, 0.25) },
  ],
};

/** Vendors with their own prices for models of others. */
export const hosts: readonly Sheet[] = [
  ...aws,
  azure,
  together,
  fireworks,
  {
    provider: "groq",
    source: "https://console.groq.com/docs/models",
    rows: [
      // The packaged table mistakes it for the larger model.
      { models: ["openai/gpt-oss-safeguard-20b"], rates: tokens(0.075, 0.3, 0.0375) },
      { models: ["meta-llama/llama-prompt-guard-2-22m"], rates: tokens(0.03, 0.03) },
      { models: ["meta-llama/llama-prompt-guard-2-86m"], rates: tokens(0.04, 0.04) },
      { models: ["qwen/qwen3.8-27b"], rates: tokens(0.8, 4) },
    ],
  },
  {
    provider: "cerebras",
    source: "https://www.cerebras.ai/pricing",
    rows: [{ models: ["qwen-3.8-27b"], rates: tokens(0.99, 1.49) }],
  },
];
