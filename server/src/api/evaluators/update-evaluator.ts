import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import type { KeyPrincipal } from "../../domain/principal.ts";
import type { EvaluatorDefinition } from "../../domain/evaluator.ts";
import {
  evaluatorChangeSchema,
  evaluatorNotFound,
  evaluatorSchema,
  shownEvaluator,
  identityOf,
  newEvaluatorSchema,
  presentEvaluator,
  readDefinition,
  evaluatorExample,
} from "./evaluator-schemas.ts";
import { refuseUseElsewhere } from "../automations/refuse-use-elsewhere.ts";
import { omit } from "../../lib/omit.ts";

type Deps = { stores: Pick<ControlStores, "transaction">; nowMs: () => number };

const common = {
  path: "/api/evaluators/{evaluator_id}/",
  aliases: ["/evaluators/{evaluator_id}/"],
  tags: ["Evaluators"],
  auth: "key",
  permission: "automations:write",
  environment: "own",
  limit: "api",
  dialect: "fields",
  success: { status: 200, schema: evaluatorSchema },
  errors: ["invalid_request", "not_found"],
} as const;

export const updateEvaluator = (deps: Deps) =>
  endpoint({
    ...common,
    id: "update_evaluator",
    method: "PATCH",
    summary: "Change an evaluator",
    description: "By id or slug. Omitted members keep their value; a configuration object replaces the stored one.",
    body: {
      kind: "json",
      schema: evaluatorChangeSchema,
      shown: shownEvaluator,
      example: { passing_conditions: { primary_score: { operator: "gte", value: 3 } } },
    },
    handler: ({ principal, params, body }) =>
      change(deps, [principal, params.evaluator_id], (found) => ({
        definition: readDefinition(found, body),
        starred: body.starred,
      })),
  });

export const replaceEvaluator = (deps: Deps) =>
  endpoint({
    ...common,
    id: "replace_evaluator",
    method: "PUT",
    summary: "Replace an evaluator",
    description: "By id or slug. Omitted members take their default; id and slug remain.",
    body: {
      kind: "json",
      schema: newEvaluatorSchema,
      shown: shownEvaluator,
      example: omit(evaluatorExample, "evaluator_slug"),
    },
    handler: ({ principal, params, body }) =>
      change(deps, [principal, params.evaluator_id], () => ({
        definition: readDefinition(identityOf(body), body),
        starred: body.starred ?? false,
      })),
  });

async function change(
  { stores, nowMs }: Deps,
  [principal, idOrSlug]: readonly [principal: KeyPrincipal, idOrSlug: string],
  read: (found: EvaluatorDefinition) => { definition: EvaluatorDefinition; starred: boolean | undefined },
) {
  const changed = await stores.transaction(async ({ evaluators, organizations }) => {
    const organization = principal.organization_id;
    await organizations.lock(organization);
    const found = await evaluators.find(organization, idOrSlug);
    if (found === undefined) throw evaluatorNotFound();
    refuseUseElsewhere(principal, await evaluators.usedBy(found.id));
    const { definition, starred = found.starred } = read(found);
    return evaluators.update(organization, found.id, {
      definition,
      starred,
      updated_at: new Date(nowMs()).toISOString(),
    });
  });
  if (changed === undefined) throw evaluatorNotFound();
  return presentEvaluator(changed);
}
