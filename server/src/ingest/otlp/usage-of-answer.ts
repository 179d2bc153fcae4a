import type { RawUsage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { readUsageMembers, readUsageObject } from "../../pricing/usage-object.ts";
import type { AttributeBag } from "./attribute-bag.ts";
import type { Attributes } from "./export-request.ts";

/** Keys of the raw model response in instrumentations. */
const answers = [
  "output.value",
  "langfuse.observation.output",
  "response_data",
  "response",
  "mlflow.spanOutputs",
  "gen_ai.completion",
  "traceloop.entity.output",
];
const usageMembers = ["usage", "usageMetadata", "usage_metadata"];

/** The usage within the response of a model call, for instrumentations that report no counts. */
export function usageOfAnswer(attributes: Attributes, bag: AttributeBag): RawUsage | undefined {
  for (const key of answers) {
    const answer = bag.parsed(attributes.get(key));
    if (!isObject(answer)) continue;
    const usage = usageMembers.map((name) => answer[name]).find(isObject);
    if (usage !== undefined && readUsageObject(usage) !== undefined) return readUsageMembers(usage);
  }
  return undefined;
}
