import { isObject } from "../../../lib/json.ts";
import type { AttributeBag } from "../attribute-bag.ts";
import type { Convention, SpanContent, SpanView } from "../convention.ts";
import { ofChoice, toMessages, type Message } from "../../../messages/message.ts";
import { readRequest } from "../../../messages/request.ts";
import { readResponse } from "../../../messages/response.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { leaveParameters, readParameters } from "../read-parameters.ts";

/** pydantic-ai and Logfire; before version 2 messages are lists of events. */
export const logfire: Convention = {
  name: "logfire",
  applies: ({ bag, scopeName }) =>
    bag.hasFamily("logfire", "pydantic_ai") || /^(?:pydantic-ai|logfire)/.test(scopeName),
  fields: {
    model: ["model_name"],
    span_name: ["tool_name"],
  },
  derive: ({ bag, span }) => ({
    // Before version 3 all tools ran under one name.
    span_name: span.name === "running tool" ? bag.peekText("gen_ai.tool.name") : filledName(bag, span.name),
    model: modelIn(bag.peekTree("request_data")),
    ...readParameters(bag.peekTree("request_data")),
    ...readParameters(bag.peekTree("response")),
  }),
  cost: ["operation.cost"],
  content(view) {
    const { bag } = view;
    // The schema only describes which attributes are JSON.
    if (isObject(bag.peekTree("logfire.json_schema"))) bag.accept("logfire.json_schema");
    const listed = bag.takeTree("pydantic_ai.all_messages");
    const whole = listed === undefined ? undefined : split(toMessages(listed, "user"));
    const fromEventList = fromEvents(bag.takeTree("events", "all_messages_events"));
    const sent = fromBodies(view);
    const final = bag.takeTree("final_result");
    return {
      prompt: whole?.prompt ?? fromEventList.prompt ?? sent.prompt,
      completions:
        whole?.completions ??
        fromEventList.completions ??
        sent.completions ??
        (final === undefined ? undefined : toMessages(asText(final), "assistant")),
      tools: toolsFrom(bag) ?? sent.tools,
      input: bag.takeAny("tool_arguments", "raw_input") ?? sent.input,
      output: bag.takeAny("tool_response"),
    };
  },
};

/**
 * If the span's name is a template, such as `Chat Completion with {model!r}`, the message with its values filled in.
 */
function filledName(bag: AttributeBag, name: string): string | undefined {
  bag.dropEqual(["logfire.msg"], name);
  return bag.peekText("logfire.msg_template") === name ? bag.takeText("logfire.msg") : undefined;
}

type Messages = { prompt: Message[] | undefined; completions: Message[] | undefined };

/** `[{"event.name": "gen_ai.user.message", "content": …}, {"event.name": "gen_ai.choice", "message": …}]` */
function fromEvents(events: unknown): Messages {
  if (!Array.isArray(events)) return { prompt: undefined, completions: undefined };
  const prompt: Message[] = [];
  const completions: Message[] = [];
  for (const event of (events as unknown[]).filter(isObject)) {
    if (event["event.name"] === "gen_ai.choice")
      completions.push(...ofChoice(toMessages(event["message"], "assistant"), event["index"]));
    else prompt.push(...toMessages({ tool_call_id: event["id"], ...event }, "user"));
  }
  return completions.length > 0 ? { prompt, completions } : split(prompt);
}

/** A whole conversation: the model's last message is the response. */
function split(messages: Message[]): Messages {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return { prompt: messages, completions: undefined };
  return { prompt: messages.slice(0, -1), completions: [last] };
}

function toolsFrom(bag: AttributeBag): unknown[] | undefined {
  const parameters = bag.peekTree("model_request_parameters");
  if (!isObject(parameters)) return undefined;
  bag.drop("model_request_parameters");
  return toolsOf(parameters["function_tools"]);
}

/**
 * Logfire's own instrumentations record bodies: `request_data` and `response_data` of OpenAI and Anthropic, and
 * `response` of OpenAI's agents, where the messages of a request include the response.
 */
function fromBodies({ bag, scopeName }: SpanView): SpanContent {
  const body = bag.peekTree("request_data");
  const request = readRequest(body);
  const response = bag.peekTree("response_data");
  const agents = bag.peekTree("response");
  const isAnswered = scopeName.endsWith("openai_agents") && request !== undefined && response === undefined;
  const messages = isAnswered ? split(request.prompt) : { prompt: request?.prompt, completions: answerIn(response) };
  const input = isObject(body) && request === undefined ? (body["input"] ?? body["prompt"]) : undefined;
  leaveParameters(bag, "request_data");
  if (messages.completions) bag.drop("response_data");
  if (isObject(agents)) bag.drop("response");
  return {
    prompt: messages.prompt,
    completions: messages.completions ?? readResponse(agents),
    tools: request?.tools ?? (isObject(agents) ? toolsOf(agents["tools"]) : undefined),
    input,
  };
}

function answerIn(response: unknown): Message[] | undefined {
  if (!isObject(response)) return undefined;
  const text = response["combined_chunk_content"] ?? response["text"];
  return readResponse(response) ?? (typeof text === "string" ? toMessages(text, "assistant") : undefined);
}

function modelIn(request: unknown): unknown {
  return isObject(request) ? request["model"] : undefined;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
