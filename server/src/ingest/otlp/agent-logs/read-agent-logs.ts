import { hash } from "node:crypto";
import { asText } from "../attribute-bag.ts";
import type { Attributes, AttributeValue, ExportRequest, OtlpLogRecord, OtlpSpan } from "../export-request.ts";
import type { AgentEvent, AgentLogs } from "./agent-log.ts";
import { claudeCodeLogs } from "./claude-code.ts";
import { codexLogs } from "./codex.ts";
import { geminiCliLogs } from "./gemini-cli.ts";

const agents: readonly AgentLogs[] = [claudeCodeLogs, codexLogs, geminiCliLogs];

type Understood = { agent: AgentLogs; name: string; event: AgentEvent };

/** Converts the events of an export that name no span to spans. The same event always becomes the same span. */
export function spansOfAgentLogs(request: ExportRequest<OtlpLogRecord>): ExportRequest<OtlpSpan> {
  const groups = request.groups.flatMap(({ resource, scope, items }) =>
    items.flatMap((record) => {
      if (record.spanId !== "") return [];
      const understood = understand(record, scope.name);
      if (understood?.event.operation === undefined) return [];
      const spanScope = { ...scope, name: understood.agent.spanScope };
      return [{ resource, scope: spanScope, items: [spanOf(record, understood)] }];
    }),
  );
  return { groups, malformed: 0 };
}

const contentKeys: ReadonlySet<string> = new Set([
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
]);

/**
 * Converts an agent's event to the GenAI details record of the span that it names, or of the call whose span another
 * event becomes; returns any other record unchanged.
 */
export function asContentRecord(given: OtlpLogRecord, scopeName: string): OtlpLogRecord {
  const understood = understand(given, scopeName);
  if (!understood) return given;
  const isOfCall = understood.event.operation === undefined && callOf(given, understood) !== undefined;
  if (given.spanId === "" && !isOfCall) return given;
  const record = given.spanId === "" ? { ...given, ...placeOf(given, understood) } : given;
  const renamedAttributes = renamed(record.attributes, understood.event);
  const attributes = new Map([...renamedAttributes].filter(([key]) => contentKeys.has(key)));
  return attributes.size === 0
    ? record
    : { ...record, eventName: "gen_ai.client.inference.operation.details", body: null, attributes };
}

/** The name is its own field, an attribute or the body, depending on the agent's release. */
function understand({ eventName, attributes, body }: OtlpLogRecord, scopeName: string): Understood | undefined {
  const names = [eventName, asText(attributes.get("event.name")), typeof body === "string" ? body : undefined];
  for (const agent of agents) {
    const isInScope = agent.scope.test(scopeName);
    for (const name of names) {
      if (name === undefined || name === "" || !(isInScope || name.startsWith(agent.prefix))) continue;
      const bare = name.startsWith(agent.prefix) ? name.slice(agent.prefix.length) : name;
      const event = Object.hasOwn(agent.events, bare) ? agent.events[bare] : undefined;
      if (event && (event.only?.(attributes) ?? true)) return { agent, name: agent.prefix + bare, event };
    }
  }
  return undefined;
}

/** The attributes, with the agent's own replaced by those of the GenAI conventions. */
function renamed(attributes: Attributes, event: AgentEvent): Map<string, AttributeValue> {
  const result = new Map(attributes);
  for (const [key, sources] of Object.entries(event.attributes ?? {})) {
    const source = sources.find((name) => ![undefined, null, ""].includes(attributes.get(name) as string));
    if (source === undefined) continue;
    result.delete(source);
    result.set(key, attributes.get(source) ?? null);
  }
  for (const [key, value] of Object.entries({ ...event.constants, ...event.expand?.(attributes) }))
    result.set(key, value);
  return result;
}

const errorKeys = ["error", "error_message", "error.message"];
/** Read into the span itself, or only relevant to the record. */
const ownKeys = ["event.name", "event.timestamp", "duration_ms", "success", ...errorKeys];

function spanOf(record: OtlpLogRecord, { agent, name, event }: Understood): OtlpSpan {
  const { attributes, timeNs } = record;
  const given = renamed(attributes, event);
  for (const key of ownKeys) given.delete(key);
  given.set("gen_ai.operation.name", event.operation ?? "");
  const message = firstText(attributes, errorKeys) ?? "";
  const failed = event.failed === true || message !== "" || asText(attributes.get("success")) === "false";
  return {
    ...placeOf(record, { agent, name, event }),
    traceState: "",
    name,
    kind: 1,
    startNs: timeNs - durationNs(attributes, timeNs),
    endNs: timeNs,
    attributes: given,
    droppedAttributes: 0,
    events: [],
    links: [],
    status: { code: failed ? 2 : 0, message: failed ? message : "" },
  };
}

/** Events of a prompt are children of it; without prompt ids, the events of a session are siblings. */
function placeOf(
  record: OtlpLogRecord,
  { agent, name, event }: Understood,
): Pick<OtlpSpan, "traceId" | "spanId" | "parentSpanId"> {
  const prompt = firstText(record.attributes, agent.promptKeys);
  const group = prompt ?? firstText(record.attributes, agent.sessionKeys);
  const itself = JSON.stringify([name, record.timeNs.toString(), [...record.attributes]]);
  const traceId = record.traceId === "" ? digest(32, agent.prefix, group ?? itself) : record.traceId;
  const promptSpanId = prompt === undefined ? "" : digest(16, traceId, "prompt");
  const call = callOf(record, { event });
  const isPrompt = event.operation === "invoke_agent" && promptSpanId !== "";
  return isPrompt
    ? { traceId, spanId: promptSpanId, parentSpanId: "" }
    : { traceId, spanId: digest(16, traceId, call ?? itself), parentSpanId: promptSpanId };
}

/** The id of the model call that an event belongs to. */
function callOf({ attributes }: OtlpLogRecord, { event }: Pick<Understood, "event">): string | undefined {
  return event.callKey === undefined ? undefined : firstText(attributes, [event.callKey]);
}

function digest(chars: number, ...parts: readonly string[]): string {
  return hash("sha256", parts.join("\n"), "hex").slice(0, chars);
}

function firstText(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = asText(attributes.get(key));
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

function durationNs(attributes: Attributes, timeNs: bigint): bigint {
  const ms = Number(asText(attributes.get("duration_ms")) ?? 0);
  const ns = Number.isFinite(ms) && ms > 0 && ms < Number.MAX_SAFE_INTEGER / 1e6 ? BigInt(Math.round(ms * 1e6)) : 0n;
  return ns < timeNs ? ns : 0n;
}
