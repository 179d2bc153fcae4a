import { refuse } from "./refuse.ts";
import { type JsonFormat, jsonToolName } from "./response-format.ts";
import type { Tools } from "./tools.ts";

/** Tools and response format, for providers that can constrain only some models, or some schemas, to JSON. */
export type AnswerPlan = Tools & {
  /** The schema that constrains the response's text. */
  schema?: Required<Pick<JsonFormat, "name" | "schema">> & JsonFormat;
  /** Whether JSON is requested by an instruction: `jsonInstruction`. */
  isInstructed: boolean;
  /** Whether a tool must be called. */
  isForced: boolean;
};

/**
 * Plans how to get a JSON response. By the provider's structured outputs if model and schema allow it; else by a tool
 * that must be called and whose arguments are the response; without a schema, by an instruction.
 * @param takesSchema whether structured outputs can constrain the response to this schema
 */
export function planAnswer(
  tools: Tools,
  format: JsonFormat | undefined,
  takesSchema: (schema: Record<string, unknown>) => boolean,
): AnswerPlan {
  if (tools.functions.some(({ name }) => name === jsonToolName)) refuse("tools", `${jsonToolName} is a reserved name`);
  const isCallDue = tools.choice?.type === "required" || tools.choice?.type === "named";
  const plan: AnswerPlan = { ...tools, isInstructed: false, isForced: isCallDue };
  if (!format) return plan;
  const { schema } = format;
  if (!schema) return { ...plan, isInstructed: true };
  if (takesSchema(schema)) return { ...plan, schema: { ...format, schema } };
  // This turn must be a call; the JSON response follows later.
  if (isCallDue) return plan;
  const functions = [...tools.functions, { ...jsonTool(format), parameters: schema, isStrict: false }];
  const isAlone = tools.choice?.type === "none" || (tools.functions.length === 0 && tools.native.length === 0);
  if (!isAlone) return { ...plan, functions, choice: { type: "required" }, isForced: true };
  return { ...plan, functions, choice: { type: "named", name: jsonToolName }, isParallel: false, isForced: true };
}

function jsonTool({ name, description }: JsonFormat): { name: string; description: string } {
  const purpose = `Gives the final answer, "${name}". Call it once, when the answer is complete.`;
  return { name: jsonToolName, description: description === undefined ? purpose : `${purpose}\n${description}` };
}
