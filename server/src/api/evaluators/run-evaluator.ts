import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { Evaluator } from "../../domain/evaluator.ts";
import { noValue } from "../../domain/score.ts";
import type { Evaluate } from "../../evaluation/evaluate.ts";
import { completeInputs } from "../../evaluation/evaluation-inputs.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pick } from "../../lib/pick.ts";
import type { EvaluatorStore } from "../../storage/control/evaluator-store.ts";
import { scoreSchema } from "../scores/score-schemas.ts";
import { evaluatorNotFound } from "./evaluator-schemas.ts";

const anything = z.unknown().optional();
const older = anything.meta({ deprecated: true });
const inputsSchema = z
  .strictObject({
    input: anything,
    output: anything,
    expected_output: anything,
    metadata: z.record(z.string(), z.unknown()).optional(),
    metrics: z.record(z.string(), z.unknown()).optional(),
    llm_input: older,
    llm_output: older,
  })
  .meta({ description: "Like the output of a log: text, or JSON that is converted to text." });

const runSchema = z.strictObject({
  inputs: inputsSchema,
  generation_method: z.enum(["auto", "llm", "code"]).default("auto").meta({
    description: "Of other services, whose evaluators may have both: here the evaluator's own type, or auto.",
  }),
});

const resultSchema = scoreSchema.pick({
  evaluator_id: true,
  evaluator_slug: true,
  evaluator_name: true,
  type: true,
  score_value_type: true,
  numerical_value: true,
  string_value: true,
  boolean_value: true,
  categorical_value: true,
  json_value: true,
  is_passed: true,
  explanation: true,
  cost: true,
  status: true,
  error_message: true,
});

export const runEvaluator = (deps: { evaluators: Pick<EvaluatorStore, "find">; evaluate: Evaluate }) =>
  endpoint({
    id: "run_evaluator",
    method: "POST",
    path: "/api/evaluators/{evaluator_id}/run/",
    aliases: ["/evaluators/{evaluator_id}/run/"],
    summary: "Test an evaluator",
    description: "With inputs from the request; only the log of a judge's call is stored.",
    tags: ["Evaluators"],
    auth: "key",
    permission: "automations:write",
    isAudited: false,
    limit: "api",
    dialect: "fields",
    body: {
      kind: "json",
      schema: runSchema,
      example: { inputs: { input: "Which city is the capital of Australia?", output: "Canberra." } },
    },
    success: { status: 200, schema: resultSchema },
    errors: ["invalid_request", "not_found", "unavailable"],
    handler: async ({ principal, params, body, signal }) => {
      const evaluator = await deps.evaluators.find(principal.organization_id, params.evaluator_id);
      if (evaluator === undefined) throw evaluatorNotFound();
      if (evaluator.type === "human") throw nothingRuns();
      const method = body.generation_method;
      if (method !== "auto" && method !== evaluator.type) throw runsOtherwise(evaluator.type);
      const outcome = await deps.evaluate(evaluator, completeInputs(body.inputs), {
        organizationId: principal.organization_id,
        environment: principal.environment,
        signal,
      });
      if (!outcome.ok && outcome.isRefused) {
        throw new ServiceError("unavailable", `Not now: ${outcome.error}. Try again later.`, { retryAfterS: 5 });
      }
      return {
        evaluator_id: evaluator.id,
        evaluator_name: evaluator.name,
        ...pick(evaluator, "evaluator_slug", "type", "score_value_type"),
        ...(outcome.ok ? outcome.value : noValue),
        is_passed: outcome.ok ? outcome.isPassed : null,
        explanation: outcome.ok ? outcome.explanation : null,
        cost: outcome.costUsd,
        status: outcome.ok ? ("success" as const) : ("failed" as const),
        error_message: outcome.ok ? null : outcome.error,
      };
    },
  });

function nothingRuns(): ServiceError {
  const message = "People score for this evaluator; nothing runs.";
  return new ServiceError("invalid_request", message, { errors: { type: [message] } });
}

function runsOtherwise(type: Evaluator["type"]): ServiceError {
  const message = `This evaluator runs as ${type}.`;
  return new ServiceError("invalid_request", message, { errors: { generation_method: [message] } });
}
