import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { toMessages, type Message } from "../messages/message.ts";
import { toolsOf } from "../messages/tool-calls.ts";

/** pydantic-ai and Logfire, whose versions before 2 keep messages as lists of events. */
export const logfire: Convention = {
  name: "logfire",
  applies: ({ bag, scopeName }) =>
    bag.hasFamily("logfire", "pydantic_ai") || /^(?:pydantic-ai|logfire)/.test(scopeName),
  fields: {
    model: ["model_name"],
    span_name: ["tool_name"],
  },
  cost: ["operation.cost"],
  content({ bag }) {
    bag.drop("logfire.json_schema");
    const listed = bag.takeTree("pydantic_ai.all_messages");
    const events = bag.takeTree("events", "all_messages_events");
    const { prompt, completions } = fromEvents(events);
    const final = bag.takeTree("final_result");
    return {
      prompt: promptOf(listed) ?? prompt,
      completions:
        completionsOf(listed) ??
        completions ??
        (final === undefined ? undefined : toMessages(asText(final), "assistant")),
      tools: toolsFrom(bag),
      ...toolPayload(bag),
      ...requestPayload(bag),
    };
  },
};

type Said = { prompt: Message[] | undefined; completions: Message[] | undefined };

/** `[{"event.name": "gen_ai.user.message", "content": …}, {"event.name": "gen_ai.choice", "message": …}]` */
function fromEvents(events: unknown): Said {
  if (!Array.isArray(events)) return { prompt: undefined, completions: undefined };
  const prompt: Message[] = [];
  const completions: Message[] = [];
  for (const event of (events as unknown[]).filter(isObject)) {
    if (event["event.name"] === "gen_ai.choice") completions.push(...toMessages(event["message"], "assistant"));
    else prompt.push(...toMessages({ tool_call_id: event["id"], ...event }, "user"));
  }
  return completions.length > 0 ? { prompt, completions } : split(prompt);
}

/** A whole conversation: what the model said last is the answer. */
function split(messages: Message[]): Said {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return { prompt: messages, completions: undefined };
  return { prompt: messages.slice(0, -1), completions: [last] };
}

function promptOf(listed: unknown): Message[] | undefined {
  return listed === undefined ? undefined : split(toMessages(listed, "user")).prompt;
}

function completionsOf(listed: unknown): Message[] | undefined {
  return listed === undefined ? undefined : split(toMessages(listed, "user")).completions;
}

function toolsFrom(bag: AttributeBag): unknown[] | undefined {
  const parameters = bag.peekTree("model_request_parameters");
  if (!isObject(parameters)) return undefined;
  bag.drop("model_request_parameters");
  return toolsOf(parameters["function_tools"]);
}

function toolPayload(bag: AttributeBag): Pick<SpanContent, "input" | "output"> {
  return { input: bag.takeAny("tool_arguments", "raw_input"), output: bag.takeAny("tool_response") };
}

/** Logfire's own instrumentation of OpenAI keeps the request and the answer whole. */
function requestPayload(bag: AttributeBag): Partial<SpanContent> {
  const request = bag.peekTree("request_data");
  const response = bag.peekTree("response_data");
  const content: Partial<SpanContent> = {};
  if (isObject(request) && Array.isArray(request["messages"])) {
    bag.drop("request_data");
    content.prompt = toMessages(request["messages"], "user");
    content.tools = toolsOf(request["tools"]);
  }
  if (isObject(response) && isObject(response["message"])) {
    bag.drop("response_data");
    content.completions = toMessages(response["message"], "assistant");
  }
  return content;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
