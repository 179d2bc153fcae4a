import { randomUUID } from "node:crypto";
import { endpoint } from "../../http/endpoint.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { EvaluatorStore } from "../../storage/control/evaluator-store.ts";
import {
  evaluatorSchema,
  shownEvaluator,
  identityOf,
  newEvaluatorSchema,
  presentEvaluator,
  readDefinition,
  evaluatorExample,
} from "./evaluator-schemas.ts";

export const createEvaluator = (deps: { evaluators: Pick<EvaluatorStore, "create">; nowMs: () => number }) =>
  endpoint({
    id: "create_evaluator",
    method: "POST",
    path: "/api/evaluators/",
    aliases: ["/evaluators/"],
    summary: "Create an evaluator",
    description:
      "A model that judges (llm), JavaScript of your own (code), a built-in rule (rule), or people who score over the " +
      "API (human).",
    tags: ["Evaluators"],
    auth: "key",
    permission: "automations:write",
    limit: "api",
    dialect: "fields",
    body: { kind: "json", schema: newEvaluatorSchema, shown: shownEvaluator, example: evaluatorExample },
    success: { status: 201, schema: evaluatorSchema },
    errors: ["invalid_request", "conflict"],
    handler: async ({ principal, body }) => {
      const now = new Date(deps.nowMs()).toISOString();
      const made = await deps.evaluators.create({
        ...readDefinition(identityOf(body), body),
        id: randomUUID(),
        unique_organization_id: principal.organization_id,
        evaluator_slug: body.evaluator_slug ?? slugOf(body.name),
        starred: body.starred ?? false,
        created_at: now,
        updated_at: now,
      });
      return presentEvaluator(made);
    },
  });

/** Readable and unique. */
function slugOf(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return `${words || "evaluator"}-${randomToken(6).toLowerCase()}`;
}
