/** A customer of the travel desk. */
export type Company = {
  id: string;
  name: string;
  plan: "free" | "pro" | "enterprise";
  region: string;
  conversations: number;
  growthPerDay: number;
  /** The models that serve this company, in rotation. */
  models: readonly string[];
  budgetUsd?: number;
  markupPercentage?: number;
};

const [large, small, claude, gemini] = ["gpt-4o", "gpt-4o-mini", "claude-sonnet-4-6", "gemini-2.5-flash"] as const;

/** The first company grows from one conversation a day to a dozen; the others send about the same number every week. */
export const companies: readonly Company[] = [
  {
    id: "bluebird-travel",
    name: "Bluebird Travel",
    plan: "enterprise",
    region: "eu-west",
    conversations: 70,
    growthPerDay: 1.25,
    models: [claude, claude, large],
    budgetUsd: 5,
    markupPercentage: 20,
  },
  {
    id: "harbor-hotels",
    name: "Harbor Hotels",
    plan: "enterprise",
    region: "us-east",
    conversations: 50,
    growthPerDay: 1,
    models: [large, claude],
    budgetUsd: 10,
    markupPercentage: 15,
  },
  {
    id: "orbit-air",
    name: "Orbit Air",
    plan: "pro",
    region: "us-east",
    conversations: 40,
    growthPerDay: 1,
    models: [gemini, gemini, claude],
    budgetUsd: 0.5,
  },
  {
    id: "summit-tours",
    name: "Summit Tours",
    plan: "pro",
    region: "eu-west",
    conversations: 25,
    growthPerDay: 1,
    models: [small, gemini],
  },
  {
    id: "lumen-events",
    name: "Lumen Events",
    plan: "free",
    region: "ap-south",
    conversations: 15,
    growthPerDay: 1,
    models: [small],
  },
];

export const providerOf: Readonly<Record<string, string>> = {
  [large]: "openai",
  [small]: "openai",
  [claude]: "anthropic",
  [gemini]: "gemini",
};
