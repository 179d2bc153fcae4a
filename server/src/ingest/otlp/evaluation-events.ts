import { isObject, parseJsonText } from "../../lib/json.ts";
import { httpLimits } from "../../http/limits.ts";
import { asText } from "./attribute-bag.ts";
import { eventsKey } from "./collect-metadata.ts";

/** https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md */
export const evaluationEvent = "gen_ai.evaluation.result";

/** The result of an evaluation made elsewhere, for a span. */
export type EvaluationResult = {
  name: string;
  /** A number, or a number as text, if the exporter follows the conventions. */
  value: number | string | boolean | undefined;
  /** The meaning of the value: `pass`, `relevant`. */
  label: string | undefined;
  explanation: string | undefined;
  /** Why there is neither value nor label. */
  error: string | undefined;
};

/** The results among the events in a span's metadata, which is a value or its JSON text. */
export function evaluationsIn(metadata: unknown): EvaluationResult[] {
  const given = typeof metadata === "string" && metadata.includes(evaluationEvent) ? parsed(metadata) : metadata;
  const events = isObject(given) ? given[eventsKey] : undefined;
  if (!Array.isArray(events)) return [];
  return (events as unknown[]).flatMap((event) => {
    if (!isObject(event) || event["name"] !== evaluationEvent || !isObject(event["attributes"])) return [];
    return resultOf(event["attributes"]) ?? [];
  });
}

function resultOf(attributes: Record<string, unknown>): EvaluationResult | undefined {
  const name = textIn(attributes, "gen_ai.evaluation.name")?.slice(0, httpLimits.nameChars).toWellFormed();
  const given = attributes["gen_ai.evaluation.score.value"];
  const value = typeof given === "number" || typeof given === "boolean" ? given : asText(given);
  const label = textIn(attributes, "gen_ai.evaluation.score.label");
  const error = textIn(attributes, "error.message", "error.type");
  if (name === undefined || (value ?? label ?? error) === undefined) return undefined;
  return { name, value, label, error, explanation: textIn(attributes, "gen_ai.evaluation.explanation") };
}

function textIn(attributes: Record<string, unknown>, ...keys: readonly string[]): string | undefined {
  return keys.map((key) => asText(attributes[key])).find((text) => text !== undefined && text !== "");
}

function parsed(text: string): unknown {
  const result = parseJsonText(text);
  return result.ok ? result.value : undefined;
}
