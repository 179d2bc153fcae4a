import type { AnswerPlan } from "../shared/plan-answer.ts";
import type { FunctionTool } from "../shared/tools.ts";
import { fitsDecoder, holdsAll } from "./schemas.ts";

/**
 * The tools whose calls are held to their schemas: those that ask for it and that the decoder can hold. All or none of them, and none
 * where they are more than the decoder holds together with the answer.
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
