import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { containsMessages, toMessages, type Message } from "../../../messages/message.ts";
import { readRequest } from "../../../messages/request.ts";
import { readResponse } from "../../../messages/response.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { jsonOfPython } from "../python-text.ts";
import { leaveParameters, readCall, readParameters } from "../read-parameters.ts";

const invocation = "langsmith.metadata.invocation_params";

/**
 * LangSmith, which puts the inputs and outputs of any run into `gen_ai.prompt` and `gen_ai.completion`. Its
 * `langsmith.trace.session_id` is a project, not a conversation.
 */
export const langsmith: Convention = {
  name: "langsmith",
  applies: ({ bag }) => bag.hasFamily("langsmith"),
  fields: {
    customer_identifier: ["langsmith.metadata.user_id", "langsmith.metadata.userId"],
    thread_identifier: [
      "langsmith.metadata.thread_id",
      "langsmith.metadata.session_id",
      "langsmith.metadata.conversation_id",
    ],
    model: ["langsmith.metadata.ls_model_name"],
    provider_id: ["langsmith.metadata.ls_provider"],
    temperature: ["langsmith.metadata.ls_temperature"],
    max_tokens: ["langsmith.metadata.ls_max_tokens"],
    stop: ["langsmith.metadata.ls_stop"],
    stream: ["langsmith.request.streaming"],
  },
  derive({ bag, span }) {
    bag.dropEqual(["langsmith.trace.name"], span.name);
    const ofCall = kindOf(bag) === "llm" ? readCall(bag.peekTree("gen_ai.prompt")) : {};
    return { ...ofCall, ...readParameters(bag.peekTree(invocation)) };
  },
  usage({ bag }) {
    const stated = bag.takeTree("langsmith.usage_metadata");
    // The JavaScript SDK repeats it as metadata.
    if (stated !== undefined) bag.drop("langsmith.metadata.usage_metadata");
    const usage = [stated, usageIn(bag.peekTree("gen_ai.completion"))].find(isObject) ?? {};
    const input = detailsOf(takeDetails(bag, "input"), usage["input_token_details"]);
    const output = detailsOf(takeDetails(bag, "output"), usage["output_token_details"]);
    return {
      input: count(usage["input_tokens"]),
      output: count(usage["output_tokens"]),
      total: count(usage["total_tokens"]),
      cacheRead: count(input["cache_read"]),
      cacheWrite: count(input["cache_creation"]),
      reasoning: count(output["reasoning"]),
      audioInput: count(input["audio"]),
      audioOutput: count(output["audio"]),
    };
  },
  metadataPrefixes: ["langsmith.metadata."],
  content({ bag }): SpanContent {
    const input = bag.takeTree("gen_ai.prompt");
    const output = bag.takeTree("gen_ai.completion");
    const request = readRequest(input);
    const answers = answersIn(output, { isCall: kindOf(bag) === "llm" });
    const parameters = bag.peekTree(invocation);
    leaveParameters(bag, invocation);
    return {
      prompt: request?.prompt,
      completions: answers,
      tools: request?.tools ?? (isObject(parameters) ? toolsOf(parameters["tools"]) : undefined),
      input: request ? undefined : input,
      output: answers.length > 0 ? undefined : output,
    };
  },
};

function kindOf(bag: AttributeBag): string | undefined {
  return bag.peekText("langsmith.span.kind")?.toLowerCase();
}

/**
 * The messages of a model's response. The output of a graph is the whole conversation: of that, the messages after the
 * last one of the user.
 */
function answersIn(output: unknown, { isCall }: { isCall: boolean }): Message[] {
  const answers = readResponse(output);
  if (answers) return answers;
  const messages = memberOf(output, "messages") ?? (isCall ? memberOf(output, "output") : undefined);
  const whole = containsMessages(messages) ? toMessages(messages, "assistant") : [];
  return whole.slice(whole.findLastIndex(({ role }) => role === "user") + 1);
}

/** The `usage_metadata` of an output: its own member, or a member of one of its messages. */
function usageIn(output: unknown): unknown {
  if (!isObject(output)) return undefined;
  if (isObject(output["usage_metadata"])) return output["usage_metadata"];
  const generations = Array.isArray(output["generations"]) ? (output["generations"] as unknown[]).flat() : [];
  const messages = [
    ...generations.map((generation) => memberOf(generation, "message")),
    output["output"],
    output["message"],
  ];
  const usages = messages.map((message) => memberOf(memberOf(message, "kwargs") ?? message, "usage_metadata"));
  return usages.find(isObject);
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** JSON, or from the Python SDK the text of a dict. */
function takeDetails(bag: AttributeBag, side: "input" | "output"): unknown {
  const key = `gen_ai.usage.${side}_token_details`;
  const given = bag.take(key);
  const details = bag.parsed(typeof given === "string" ? (jsonOfPython(given) ?? given) : given);
  if (isObject(details)) bag.restore(key, undefined, details);
  return details;
}

function detailsOf(...given: unknown[]): Record<string, unknown> {
  return given.find(isObject) ?? {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}
