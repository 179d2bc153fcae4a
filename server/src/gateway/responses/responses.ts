import { isObject, parseObjectText } from "../../lib/json.ts";
import type { CallLedger } from "../call-ledger.ts";
import { usageWithTier } from "../providers/openai/usage.ts";
import { BadReply } from "../providers/provider.ts";
import { problemOfEvent } from "../relay/event-problem.ts";
import { badMember, readJsonAsk, readJsonReply } from "../relay/read-json-ask.ts";
import type { KeyBinding, RelayOperation, RelayStream } from "../relay/relay.ts";
import type { WholeReply } from "../relay/whole-exchange.ts";
import { bindEvent, bindResponse, takeBonds, type KeyBond } from "./key-bonds.ts";
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
        read: (whole, toLedger) => {
          const { reply, problem } = readJsonReply(whole);
          if (problem !== undefined) return problem;
          if (!Array.isArray(reply["output"])) throw new BadReply("The provider's answer is no response.");
          takeResponse(reply, toLedger);
          if (toLedger.responseId !== undefined) owners.note(toLedger.responseId, toLedger.origin);
          return undefined;
        },
        ...(stream === true && { stream: (toLedger) => createResponseStream(toLedger, owners), events: eventsOf }),
      };
    },
  };
}

/** Events that say something; before them another provider may still answer. */
const contentEvent = /\.delta$|^response\.(?:output_item\.added|content_part\.added)$/;

function createResponseStream(ledger: CallLedger, owners: Pick<ResponseOwners, "note">): RelayStream {
  const said = createSaidSoFar();
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
        return { problem: problemOfEvent({ error: response["error"], usage: response["usage"], ...event }) };
      if (type === "response.completed" || type === "response.incomplete") {
        takeResponse(response, ledger);
        return { isDone: true };
      }
      const message = said.add(type, event);
      if (message !== undefined) ledger.messages = [message];
      return { hasContent: contentEvent.test(type) };
    },
  };
}

function createBinding(bond: string): KeyBinding {
  return {
    reply: (whole) => ({
      ...whole,
      bytes: Buffer.from(JSON.stringify(bindResponse(readJsonReply(whole).reply, bond))),
    }),
    event: ({ name, data, raw }) => {
      const event = data === undefined ? undefined : parseObjectText(data);
      if (event === undefined) return raw;
      const head = name === "" ? "" : `event: ${name}\n`;
      return Buffer.from(`${head}data: ${JSON.stringify(bindEvent(event, bond))}\n\n`);
    },
  };
}

function eventsOf(whole: WholeReply): string {
  const type = "response.completed";
  return `event: ${type}\ndata: ${JSON.stringify({ type, response: readJsonReply(whole).reply })}\n\n`;
}

function takeResponse(response: Record<string, unknown>, ledger: CallLedger): void {
  const { output, usage } = response;
  if (isObject(usage)) ledger.usage = { ...usageWithTier(usage, response), ...searchesOf(output) };
  ledger.messages = [messageOfOutput(output)];
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
