import type { AnswerPlan } from "../shared/plan-answer.ts";
import type { FunctionTool } from "../shared/tools.ts";
import { fitsDecoder, holdsAll } from "./schemas.ts";

/**
 * The tools whose calls are constrained to their schemas: those with `strict` that the decoder supports. None of them
 * if together with the response format they exceed the decoder's limits.
 */
export function strictTools(plan: AnswerPlan, takesSchemas: boolean, adjusted: string[]): ReadonlySet<FunctionTool> {
  const strict = plan.functions.filter(({ isStrict }) => isStrict);
  if (!takesSchemas || strict.length === 0) return new Set();
  const decodable = strict.filter(({ parameters }) => fitsDecoder({ type: "object", ...parameters }));
  const isDecodable = holdsAll(
    decodable.map(({ parameters }) => parameters),
    plan.schema?.schema,
  );
  if (!isDecodable || decodable.length < strict.length) adjusted.push("tools.function.strict");
  return new Set(isDecodable ? decodable : []);
}
