import type { Api } from "./api.ts";

/** The records that the demo created on the server. */
export type Setup = {
  supportModel: string;
  evaluatorId: string;
  evaluatorSlug: string;
  automationId: string;
  webhookSecret: string;
  /** Removes everything except the evaluator, whose scores still refer to it. */
  remove(): Promise<void>;
};

type Row = Record<string, unknown>;

// A custom provider name for an OpenAI-compatible server.
const provider = "judge-demo";
const slug = "demo-politeness";

export async function setUp(
  api: Api,
  { modelUrl, webhookUrl }: { modelUrl: string; webhookUrl: string },
): Promise<Setup> {
  await removeLeftovers(api);
  const credential = await api.post("/api/providers/", { provider, base_url: modelUrl, api_key: "sk-demo" });
  const evaluator =
    (await find(api, `/api/evaluators/?search=${slug}`, { evaluator_slug: slug })) ?? (await judge(api));
  const condition = await api.post("/automation/conditions/", {
    name: "Calls of the demo",
    condition_slug: slug,
    condition_type: "single_log",
    condition_policy: { rules: [{ field: "metadata.demo", operator: "equals", value: "judge" }], connector: "AND" },
  });
  const automation = await api.post("/automation/automations/", {
    name: "Judge the demo",
    automation_slug: slug,
    automation_type: "online_eval",
    condition: condition["id"],
    evaluator_ids: [evaluator["id"]],
    configuration: { sampling_rate: 1 },
    is_enabled: true,
  });
  const webhook = await api.post("/api/webhooks/", {
    name: provider,
    url: webhookUrl,
    event_type: "on_eval_result_ingested",
  });
  return {
    supportModel: `${provider}/support`,
    evaluatorId: String(evaluator["id"]),
    evaluatorSlug: slug,
    automationId: String(automation["id"]),
    webhookSecret: String(webhook["secrets"]),
    async remove() {
      await api.delete(`/api/webhooks/${String(webhook["id"])}/`);
      await api.delete(`/automation/automations/${String(automation["id"])}/`);
      await api.delete(`/automation/conditions/${String(condition["id"])}/`);
      await api.delete(`/api/providers/${String(credential["id"])}/`);
    },
  };
}

/** Creates an evaluator whose model judges each answer from 1 to 5; it passes from 3 on. */
function judge(api: Api): Promise<Row> {
  return api.post("/api/evaluators/", {
    name: "Politeness",
    evaluator_slug: slug,
    type: "llm",
    score_value_type: "numerical",
    score_config: { min_score: 1, max_score: 5 },
    passing_conditions: { primary_score: { operator: "gte", value: 3 } },
    llm_config: {
      model: `${provider}/judge`,
      evaluator_definition:
        "A customer wrote: {{input}}\n\nThe answer was: {{output}}\n\nHow polite and helpful is it, from 1 to 5?",
    },
  });
}

/** Removes records of an earlier run that was interrupted. */
async function removeLeftovers(api: Api): Promise<void> {
  const places = [
    ["/api/webhooks/", { name: provider }],
    ["/automation/automations/", { automation_slug: slug }],
    ["/automation/conditions/", { condition_slug: slug }],
    ["/api/providers/", { provider }],
  ] as const;
  for (const [path, member] of places) {
    const left = await find(api, path, member);
    if (left !== undefined) await api.delete(`${path}${String(left["id"])}/`);
  }
}

/** The first entry of a list with this member. */
async function find(api: Api, path: string, member: Record<string, string>): Promise<Row | undefined> {
  const list: unknown = await api.get(path);
  const rows = Array.isArray(list) ? (list as Row[]) : ((list as { results: Row[] }).results ?? []);
  return rows.find((row) => Object.entries(member).every(([name, value]) => row[name] === value));
}
