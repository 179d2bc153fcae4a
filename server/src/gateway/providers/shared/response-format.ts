import { isObject } from "../../../lib/json.ts";
import { refuse } from "./refuse.ts";

/** The JSON that the response must be; without a schema, any object. */
export type JsonFormat = {
  name: string;
  description?: string;
  schema?: Record<string, unknown>;
};

/** Reads `response_format`; `undefined` means text. */
export function readResponseFormat(format: unknown): JsonFormat | undefined {
  if (format === null || format === undefined) return undefined;
  if (!isObject(format)) return refuse("response_format", "must be an object");
  if (format["type"] === "text") return undefined;
  if (format["type"] === "json_object") return { name: "response" };
  if (format["type"] !== "json_schema")
    return refuse("response_format.type", "must be text, json_object or json_schema");
  const declared = format["json_schema"];
  if (!isObject(declared) || !isObject(declared["schema"])) {
    return refuse("response_format.json_schema.schema", "must be a JSON schema");
  }
  const { name, description, schema } = declared;
  return {
    name: typeof name === "string" && name !== "" ? name : "response",
    ...(typeof description === "string" ? { description } : {}),
    schema,
  };
}

/** The instruction for providers that cannot be constrained to JSON. */
export const jsonInstruction =
  "Answer with one JSON object and nothing else: no explanation before or after it, no code fence around it.";

/**
 * The name of the tool that replaces a JSON response for providers that accept schemas only for tools. It identifies
 * such a call in responses: its arguments are the response's text. Reserved, so that no tool of a caller is mistaken
 * for it.
 */
export const jsonToolName = "spanway_json_answer";
