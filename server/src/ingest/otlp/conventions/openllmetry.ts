import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import type { AttributeValue } from "../export-request.ts";
import { wordIn } from "../../../messages/json-word.ts";

const property = (...names: string[]): string[] => names.map((name) => `traceloop.association.properties.${name}`);

/** OpenLLMetry's decorators and associations. Its model calls use the GenAI conventions. */
export const openllmetry: Convention = {
  name: "openllmetry",
  applies: ({ bag }) => bag.hasFamily("traceloop"),
  fields: {
    customer_identifier: property("customer_identifier", "customer_id", "user_id", "userId"),
    thread_identifier: property("thread_id", "threadId", "session_id", "sessionId", "conversation_id"),
    span_path: ["traceloop.entity.path"],
    prompt_name: ["traceloop.prompt.key"],
    prompt_version_number: ["traceloop.prompt.version"],
    variables: ["traceloop.prompt.template_variables"],
  },
  derive: ({ bag }) => ({
    span_name: bag.takeText("traceloop.entity.name"),
    span_workflow_name: workflowName(bag),
  }),
  metadataPrefixes: ["traceloop.association.properties."],
  content({ bag }): SpanContent {
    const input = bag.takeAny("traceloop.entity.input", "gen_ai.task.input");
    const output = bag.takeAny("traceloop.entity.output", "gen_ai.task.output");
    // Its LangChain instrumentation sends both under both names.
    bag.dropEqual(["gen_ai.task.input"], input);
    bag.dropEqual(["gen_ai.task.output"], output);
    return { input: contentOf(input), output: contentOf(output) };
  },
};

/** Decorators JSON-encode all values: texts lose their quotes, and `null` means no value. */
function contentOf(given: AttributeValue | undefined): AttributeValue | undefined {
  if (typeof given !== "string") return given;
  return given === "null" ? undefined : wordIn(given);
}

/** The key names the innermost workflow or agent: the name of an agent is not a workflow name. */
function workflowName(bag: AttributeBag): string | undefined {
  const name = bag.takeText("traceloop.workflow.name");
  if (name === undefined || name === bag.peekText("gen_ai.agent.name")) return undefined;
  const isAgent = bag.peekText("traceloop.span.kind") === "agent";
  return isAgent ? undefined : name;
}
