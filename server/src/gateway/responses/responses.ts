import { isObject, parseObjectText } from "../../lib/json.ts";
import { blockProblem } from "../call/blocked-answer.ts";
import type { CallLedger } from "../call/call-ledger.ts";
import { problemOfEvent, readJsonReply, usageWithTier } from "../providers/openai/read-reply.ts";
import { createEventSource, feedEvents, type EventReader } from "../stream/event-source.ts";
import type { AnswerReader, CallOperation, ReaderOptions } from "../call/operation.ts";
import { BadReply, type UpstreamProblem } from "../providers/provider.ts";
import { badMember, checkStreamFlag, passJson, readJsonRequest } from "../request/read-json-request.ts";
import { createMarker, removeMarks, type KeyMark } from "./key-marks.ts";
import { responseAsEvents } from "./response-as-events.ts";
import type { ResponseOwners } from "./response-owners.ts";
import { createOutputSoFar, messageOfOutput } from "./output-so-far.ts";

/** OpenAI's Responses API, for providers that support it. */
export function createResponses(owners: Pick<ResponseOwners, "note">): CallOperation {
  return {
    operation: "responses",
    logType: "response",
    read(call, ledger) {
      let keyMark: KeyMark | undefined;
      const request = readJsonRequest(call, ledger, "responses", (members) => {
        const taken = removeMarks(members);
        const { input, instructions, stream } = taken.members;
        keyMark = taken.keyMark;
        ledger.stream = stream === true;
        ledger.content = { input: instructions === undefined ? input : { instructions, input } };
        return taken.members;
      });
      checkStreamFlag(request.members);
      const { stream, background } = request.members;
      // Without a stream the cost of a background response would stay unknown.
      if (background === true && stream !== true)
        throw badMember("background", "must be streamed: send stream as well");
      return {
        ...request,
        keyMark,
        isStream: stream === true,
        reader: (how) => createResponseReader(ledger, owners, { ...how, isBackground: background === true }),
      };
    },
  };
}

function createResponseReader(
  ledger: CallLedger,
  owners: Pick<ResponseOwners, "note">,
  { attempt, hasManyKeys, mayFallBack, isBackground }: ReaderOptions & { isBackground: boolean },
): AnswerReader {
  /** Appends the key mark of this attempt. */
  const marker = hasManyKeys && attempt !== undefined ? createMarker(attempt.keyMark) : undefined;
  return {
    stream(sink) {
      // The id of a background response must be sent immediately.
      const events = readResponseStream(ledger, owners, isBackground ? () => false : mayFallBack);
      return createEventSource({ ...events, rewrite: marker?.event }, sink);
    },
    readComplete(complete) {
      const { reply, problem } = readJsonReply(complete);
      if (problem !== undefined) return problem;
      if (!Array.isArray(reply["output"])) throw new BadReply("The provider's reply is not a Responses API response.");
      const block = mayFallBack() ? blockOfResponse(reply) : undefined;
      if (block !== undefined) return block;
      takeResponse(reply, ledger);
      if (ledger.responseId !== undefined) owners.note(ledger.responseId, ledger.origin);
      return undefined;
    },
    asStream: (reply, sink) => feedEvents(responseAsEvents(marker?.reply(reply) ?? reply), sink),
    answer: (reply, breakdown) => passJson(marker?.reply(reply) ?? reply, breakdown),
  };
}

/** Events with content; before them another provider may still answer. */
const contentEvent = /\.delta$|^response\.(?:output_item\.added|content_part\.added)$/;

/** While another model may answer, the start of a text item is not content: a filter may withhold all of its text. */
function isContent(type: string, { item }: Record<string, unknown>, mayFallBack: boolean): boolean {
  if (!mayFallBack || type.endsWith(".delta")) return contentEvent.test(type);
  return type === "response.output_item.added" && !isTextItem(item);
}

function isTextItem(item: unknown): boolean {
  return isObject(item) && (item["type"] === "message" || item["type"] === "reasoning");
}

function readResponseStream(
  ledger: CallLedger,
  owners: Pick<ResponseOwners, "note">,
  mayFallBack: () => boolean,
): EventReader {
  const output = createOutputSoFar();
  let isStarted = false;
  return {
    take: ({ data }) => {
      const event = data === undefined ? undefined : parseObjectText(data);
      if (event === undefined) return {};
      const type = typeof event["type"] === "string" ? event["type"] : "";
      const response = isObject(event["response"]) ? event["response"] : {};
      // Recorded from the first event on, so that a background response can be retrieved and cancelled.
      if (typeof response["id"] === "string" && response["id"] !== ledger.responseId) {
        ledger.responseId = response["id"];
        owners.note(response["id"], ledger.origin);
      }
      if (type === "error" || type === "response.failed" || event["error"])
        return { problem: problemOfEvent({ error: response["error"], usage: usageOfResponse(response), ...event }) };
      if (type === "response.completed" || type === "response.incomplete") {
        const block = !isStarted && mayFallBack() ? blockOfResponse(response) : undefined;
        if (block !== undefined) return { problem: block };
        takeResponse(response, ledger);
        return { isDone: true };
      }
      const message = output.add(type, event);
      if (message !== undefined) ledger.messages = [message];
      const hasContent = isContent(type, event, mayFallBack());
      isStarted ||= hasContent;
      return { hasContent };
    },
  };
}

/** The problem of a response that a provider's content filter withheld completely; undefined for every other. */
function blockOfResponse(response: Record<string, unknown>): UpstreamProblem | undefined {
  const { incomplete_details: details, output } = response;
  if (!isObject(details) || details["reason"] !== "content_filter") return undefined;
  const items = Array.isArray(output) ? (output as unknown[]) : [];
  const { content, refusal } = messageOfOutput(items);
  // A tool call may have had effects.
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

/** The number of charged searches. Opening a found page, or finding text in it, is not charged. */
function searchesOf(output: unknown): Record<string, unknown> {
  const items = Array.isArray(output) ? (output as unknown[]).filter(isObject) : [];
  const searches = items.filter(({ type, action }) => {
    const kind = isObject(action) ? action["type"] : "search";
    return type === "web_search_call" && kind === "search";
  });
  return searches.length === 0 ? {} : { server_tool_use: { web_search_requests: searches.length } };
}
