import { isObject, parseObjectText } from "../../lib/json.ts";
import { blockProblem } from "../blocked-answer.ts";
import type { CallLedger } from "../call-ledger.ts";
import { usageWithTier } from "../providers/openai/usage.ts";
import { BadReply, type UpstreamProblem } from "../providers/provider.ts";
import { problemOfEvent } from "../relay/event-problem.ts";
import { badMember, readJsonAsk, readJsonReply } from "../relay/read-json-ask.ts";
import type { RelayOperation, RelayStream } from "../relay/relay.ts";
import { createBinding, takeBonds, type KeyBond } from "./key-bonds.ts";
import { responseAsEvents } from "./response-as-events.ts";
import type { ResponseOwners } from "./response-owners.ts";
import { createSaidSoFar, messageOfOutput } from "./said.ts";

/** OpenAI's Responses, where the provider has them. */
export function createResponses(owners: Pick<ResponseOwners, "note">): RelayOperation {
  return {
    operation: "responses",
    logType: "response",
    read(call, ledger) {
      let bond: KeyBond | undefined;
      const ask = readJsonAsk(call, ledger, "responses", (asked) => {
        const taken = takeBonds(asked);
        bond = taken.bond;
        return taken.asked;
      });
      const { input, instructions, stream, background } = ask.asked;
      if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
        throw badMember("stream", "must be true or false");
      }
      // Nobody would know what it cost.
      if (background === true && stream !== true)
        throw badMember("background", "must be streamed: send stream as well");
      ledger.stream = stream === true;
      ledger.content = { input: instructions === undefined ? input : { instructions, input } };
      return {
        ...ask,
        bond,
        bind: createBinding,
        read: (whole, toLedger, mayAskOther) => {
          const { reply, problem } = readJsonReply(whole);
          if (problem !== undefined) return problem;
          if (!Array.isArray(reply["output"])) throw new BadReply("The provider's answer is not a response.");
          const block = mayAskOther() ? blockOfResponse(reply) : undefined;
          if (block !== undefined) return block;
          takeResponse(reply, toLedger);
          if (toLedger.responseId !== undefined) owners.note(toLedger.responseId, toLedger.origin);
          return undefined;
        },
        ...(stream === true && {
          // The id of one that runs in the background is wanted at once.
          stream: (toLedger, mayAskOther) =>
            createResponseStream(toLedger, owners, background === true ? () => false : mayAskOther),
          events: responseAsEvents,
        }),
      };
    },
  };
}

/** Events that say something; before them another provider may still answer. */
const contentEvent = /\.delta$|^response\.(?:output_item\.added|content_part\.added)$/;

/** Where another model may answer, the frame of a text is no content: a filter may hold back all that would stand in it. */
function isContent(type: string, { item }: Record<string, unknown>, mayAskOther: boolean): boolean {
  if (!mayAskOther || type.endsWith(".delta")) return contentEvent.test(type);
  return type === "response.output_item.added" && !isTextItem(item);
}

function isTextItem(item: unknown): boolean {
  return isObject(item) && (item["type"] === "message" || item["type"] === "reasoning");
}

function createResponseStream(
  ledger: CallLedger,
  owners: Pick<ResponseOwners, "note">,
  mayAskOther: () => boolean,
): RelayStream {
  const said = createSaidSoFar();
  let isBegun = false;
  return {
    take: ({ data }) => {
      const event = data === undefined ? undefined : parseObjectText(data);
      if (event === undefined) return {};
      const type = typeof event["type"] === "string" ? event["type"] : "";
      const response = isObject(event["response"]) ? event["response"] : {};
      // Known from the first event on, so that what runs in the background can be asked for and cancelled.
      if (typeof response["id"] === "string" && response["id"] !== ledger.responseId) {
        ledger.responseId = response["id"];
        owners.note(response["id"], ledger.origin);
      }
      if (type === "error" || type === "response.failed" || event["error"])
        return { problem: problemOfEvent({ error: response["error"], usage: usageOfResponse(response), ...event }) };
      if (type === "response.completed" || type === "response.incomplete") {
        const block = !isBegun && mayAskOther() ? blockOfResponse(response) : undefined;
        if (block !== undefined) return { problem: block };
        takeResponse(response, ledger);
        return { isDone: true };
      }
      const message = said.add(type, event);
      if (message !== undefined) ledger.messages = [message];
      const hasContent = isContent(type, event, mayAskOther());
      isBegun ||= hasContent;
      return { hasContent };
    },
  };
}

/** The problem of a response that a filter of the provider held back as a whole; undefined for every other. */
function blockOfResponse(response: Record<string, unknown>): UpstreamProblem | undefined {
  const { incomplete_details: details, output } = response;
  if (!isObject(details) || details["reason"] !== "content_filter") return undefined;
  const items = Array.isArray(output) ? (output as unknown[]) : [];
  const { content, refusal } = messageOfOutput(items);
  // A call of a tool may have done something.
  if (content !== "" || !items.every(isTextItem)) return undefined;
  return blockProblem(refusal, usageOfResponse(response));
}

function usageOfResponse(response: Record<string, unknown>): Record<string, unknown> | undefined {
  const { output, usage } = response;
  return isObject(usage) ? { ...usageWithTier(usage, response), ...searchesOf(output) } : undefined;
}

function takeResponse(response: Record<string, unknown>, ledger: CallLedger): void {
  ledger.usage = usageOfResponse(response) ?? ledger.usage;
  ledger.messages = [messageOfOutput(response["output"])];
  if (typeof response["id"] === "string") ledger.responseId = response["id"];
}

/** What is charged for each: opening a page that was found, or finding something in it, is none. */
function searchesOf(output: unknown): Record<string, unknown> {
  const items = Array.isArray(output) ? (output as unknown[]).filter(isObject) : [];
  const searches = items.filter(({ type, action }) => {
    const kind = isObject(action) ? action["type"] : "search";
    return type === "web_search_call" && kind === "search";
  });
  return searches.length === 0 ? {} : { server_tool_use: { web_search_requests: searches.length } };
}
