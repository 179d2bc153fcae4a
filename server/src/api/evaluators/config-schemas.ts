import { z } from "zod";
import { ruleTargets } from "../../domain/evaluator.ts";
import { apiLimits } from "../limits.ts";

/** Configurations of evaluators. Unknown members are refused by name, because they would have no effect. */

export const text = z.string().max(apiLimits.evaluatorTextChars);
const number = z.number();

export const scoreConfig = z.strictObject({
  min_score: number.optional(),
  max_score: number.optional(),
  choices: z
    .array(z.strictObject({ name: text.min(1), value: z.union([text, number]).optional() }))
    .max(apiLimits.scoreChoices)
    .optional()
    .meta({ description: "For single_select and multi_select; a score contains names." }),
});

export const sampling = {
  temperature: number.min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  top_p: number.min(0).max(1).optional(),
  frequency_penalty: number.min(-2).max(2).optional(),
  presence_penalty: number.min(-2).max(2).optional(),
  stop: z.union([text, z.array(text).max(16)]).optional(),
};

/** Settings of other products' judges. An empty value is accepted, because it requests nothing. */
const notTaken = z
  .union(
    [z.null(), z.literal(""), z.array(z.unknown()).length(0)],
    "judges here answer in the form of the score, without tools",
  )
  .optional()
  .meta({
    deprecated: true,
    description: "Accepted only if empty: judges answer in the form of the score, without tools.",
  });

export const llmConfig = z.strictObject({
  model: text.min(1).meta({ description: "A model of this gateway." }),
  evaluator_definition: text.min(1).meta({
    description:
      "The prompt. {{input}}, {{output}}, {{expected_output}}, {{metadata.x}} and {{metrics.x}} are replaced by the values of the " +
      "log, as text; older names are {{llm_input}} and {{llm_output}}.",
  }),
  scoring_rubric: text.optional(),
  ...sampling,
  verbosity: text.optional(),
  response_format: notTaken,
  tools: notTaken,
  tool_choice: notTaken,
});

export const codeConfig = z.strictObject({
  language: z
    .literal("javascript", { error: "language must be javascript: evaluators in other languages cannot run" })
    .optional(),
  eval_code_snippet: text.min(1).meta({
    description:
      "JavaScript that defines main(eval_inputs), which returns the score, {score, explanation}, or a promise of " +
      "either. eval_inputs is {input, output, expected_output, metadata, metrics}: the first three are text, or JSON text if the log " +
      "has no plain text; metrics are the log's model, status, latency, tokens and cost. The code has no I/O, and limited time and memory.",
  }),
});

const target = { target: z.enum(ruleTargets).optional().meta({ default: "output" }) };
export const ruleConfig = z.discriminatedUnion("rule", [
  z.strictObject({
    rule: z.literal("regex"),
    pattern: text.min(1),
    flags: z
      .string()
      .regex(/^[dgimsuy]*$/)
      .optional(),
    ...target,
  }),
  z.strictObject({ rule: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()), ...target }),
  z.strictObject({
    rule: z.literal("contains"),
    text: z.union([text.min(1), z.array(text.min(1)).min(1).max(100)]),
    case_sensitive: z.boolean().optional(),
    match: z.enum(["any", "all"]).optional(),
    ...target,
  }),
  z.strictObject({
    rule: z.literal("similarity"),
    expected: text.optional().meta({ description: "Default: the log's ideal_output." }),
    ...target,
  }),
]);
