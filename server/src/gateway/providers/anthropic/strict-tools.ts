import type { AnswerPlan } from "../shared/plan-answer.ts";
import type { FunctionTool } from "../shared/tools.ts";
import { fitsDecoder, holdsAll } from "./schemas.ts";

/**
 * The tools whose calls are constrained to their schemas: those with `strict` that the decoder supports. None of them
 * if together with the response format they exceed the decoder's limits.
 */
export function strictTools(plan: AnswerPlan, takesSchemas: boolean, adjusted: string[]): ReadonlySet<FunctionTool> {
  const asked = plan.functions.filter(({ isStrict }) => isStrict);
  if (!takesSchemas || asked.length === 0) return new Set();
  const held = asked.filter(({ parameters }) => fitsDecoder({ type: "object", ...parameters }));
  const isHeld = holdsAll(
    held.map(({ parameters }) => parameters),
    plan.schema?.schema,
  );
  if (!isHeld || held.length < asked.length) adjusted.push("tools.function.strict");
  return new Set(isHeld ? held : []);
}
