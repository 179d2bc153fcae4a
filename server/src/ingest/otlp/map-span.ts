import { normalizeUsage, type CountOfUsage, type RawUsage } from "../../domain/usage.ts";
import { domainLimits } from "../../domain/limits.ts";
import { ingestLimits } from "../limits.ts";
import { maxTimeNs } from "../../lib/time.ts";
import * as read from "../../validation/field-readers.ts";
import { Problem, createNestedJson, type NestedJson } from "../../validation/field-readers.ts";
import { usageDetailsOf } from "../../pricing/buckets.ts";
import { wireFields } from "../normalize/wire-fields.ts";
import { AttributeBag, asText } from "./attribute-bag.ts";
import type { SpanContent, SpanView, UsageTable } from "./convention.ts";
import { conventions } from "./conventions/list.ts";
import { isContentEvent } from "./conventions/gen-ai-events.ts";
import { unquoted } from "./conventions/mlflow.ts";
import { withDetails } from "./details-events.ts";
import type { OtlpEvent, OtlpSpan, ScopeItems } from "./export-request.ts";
import { addMetadata, collectMetadata, liftMetadata, type Metadata } from "./collect-metadata.ts";
import { isModelCall, decideLogType } from "./log-type.ts";
import { answersOf } from "../../messages/answers.ts";
import { toMessages, withSystem, type Message } from "../../messages/message.ts";
import { readRequest } from "../../messages/request.ts";
import { dropFailedAnswer, readOutcome, withLoggedExceptions } from "./outcome.ts";
import { providerOf } from "./provider.ts";
import { timeToFirstToken } from "./time-to-first-token.ts";
import { usageOfAnswer } from "./usage-of-answer.ts";

/** A span body, with the fields of normalize/wire-fields.ts. */
export type SpanBody = Record<string, unknown>;

type CompiledField = { field: string; keys: readonly string[]; reader: read.Reader<unknown>; isTree: boolean };

const treeReaders: ReadonlySet<unknown> = new Set([read.object, read.list, read.textOrObject, read.textOrList]);

const compiledConventions = conventions.map((convention) => ({
  convention,
  fields: Object.entries(convention.fields ?? {}).map(([field, keys]): CompiledField => {
    const reader = wireFields.get(field)?.reader;
    if (!reader) throw new Error(`the convention ${convention.name} fills ${field}, which is no field of a span`);
    return { field, keys, reader, isTree: treeReaders.has(reader) };
  }),
}));

type Collected = {
  body: SpanBody;
  content: SpanContent;
  usage: RawUsage;
  metadata: Metadata;
};

/**
 * Maps one span to a span body. Every convention that applies takes what it recognizes; the remaining attributes become
 * metadata, with the resource and the scope. `logEvents` are log records that belong to the span.
 */
export function mapSpan(
  span: OtlpSpan,
  { resource, scope }: Omit<ScopeItems<OtlpSpan>, "items">,
  { nested, logEvents = [] }: { nested: NestedJson; logEvents?: readonly OtlpEvent[] },
): SpanBody {
  const sent = [...span.events, ...logEvents];
  const view: SpanView = {
    span,
    scopeName: scope.name,
    isRoot: span.parentSpanId === "",
    operation: asText(span.attributes.get("gen_ai.operation.name")) ?? "",
    bag: new AttributeBag(unquoted(withDetails(span.attributes, logEvents)), nested),
    events: sent,
  };
  const collected: Collected = { body: {}, content: {}, usage: {}, metadata: new Map() };
  // Outcome and kind read attributes that conventions take later.
  const isOk = span.status.code === 1;
  const outcome = withLoggedExceptions(readOutcome(view), { bag: view.bag, isOk }, logEvents);
  const firstTokenS = timeToFirstToken(view);
  const kind = decideLogType(view);
  for (const { convention, fields } of compiledConventions) {
    if (!convention.applies(view)) continue;
    takeFields(view, fields, collected.body);
    if (convention.derive) takeDerived(convention.derive(view), collected.body);
    takeUsage(view, convention, collected.usage);
    takeCost(view, convention, collected.body);
    takeContent(convention.content?.(view), collected.content);
    liftMetadata(view.bag, convention, collected.metadata);
  }

  const { body, content, usage } = collected;
  Object.assign(body, identityOf(span), outcome);
  if (outcome.status === "error") dropFailedAnswer(content, outcome.error_message ?? "");
  if (scope.name !== "") body["scope_name"] = scope.name;
  placeContent(body, content);
  body["log_type"] = kind(evidenceOf(collected, { isLogged: logEvents.some(isContentEvent) }));
  if (body["log_type"] === "embedding") placeEmbedded(body, content);
  placeProvider(body, collected.metadata);
  const isCounted = usage.input !== undefined || usage.output !== undefined || usage.total !== undefined;
  if (!isCounted && isModelCall(body["log_type"])) Object.assign(usage, usageOfAnswer(span.attributes, view.bag));
  placeUsage(body, usage);
  if (firstTokenS !== undefined) {
    body["time_to_first_token"] = firstTokenS;
    body["stream"] ??= true;
  }
  if (view.span.links.length > 0) body["span_links"] = linksOf(span);
  body["metadata"] = collectMetadata(view, { resource, scope }, { ...collected, taken: without(sent, view.events) });
  return body;
}

/**
 * Evidence of a model call: a model, tokens, or both prompt and response. A framework's own steps have at most one of
 * the latter two. Content from log records (`isLogged`) does not count, because these may refer to the span around a
 * call.
 */
function evidenceOf(
  { body, content, usage }: Collected,
  { isLogged }: { isLogged: boolean },
): Parameters<ReturnType<typeof decideLogType>>[0] {
  const hasUsage = usage.input !== undefined || usage.output !== undefined;
  const isAnswered = !isLogged && content.prompt !== undefined && content.completions !== undefined;
  return {
    hasMessages: content.prompt !== undefined || content.completions !== undefined,
    isModelCall: body["model"] !== undefined || hasUsage || isAnswered,
    model: body["model"],
  };
}

/** The events that conventions took: they replace the list rather than change it. */
function without(all: readonly OtlpEvent[], retained: readonly OtlpEvent[]): OtlpEvent[] {
  if (all === retained) return [];
  const known = new Set(retained);
  return all.filter((event) => !known.has(event));
}

function identityOf(span: OtlpSpan): SpanBody {
  const start = knownTime(span.startNs);
  const end = knownTime(span.endNs);
  const body: SpanBody = {
    trace_unique_id: span.traceId,
    span_unique_id: span.spanId,
    timestamp: end ?? start,
    start_time: start,
  };
  if (span.parentSpanId !== "") body["span_parent_id"] = span.parentSpanId;
  // An end before the start means clock skew: the latency is unknown and stored as 0.
  if (end !== undefined && span.endNs < span.startNs) body["latency"] = 0;
  return body;
}

function knownTime(ns: bigint): bigint | undefined {
  return ns <= 0n || ns > maxTimeNs ? undefined : ns;
}

/** Fills each empty field from the first key whose value the field's reader accepts. */
function takeFields({ bag }: SpanView, fields: readonly CompiledField[], body: SpanBody): void {
  for (const { field, keys, reader, isTree } of fields) {
    for (const key of keys) {
      const given = bag.peek(key);
      if (given === undefined) continue;
      if (body[field] === undefined) {
        const value = readField(isTree ? bag.parsed(given) : given, reader);
        if (value === undefined) continue;
        body[field] = value;
        // Long names were truncated, so their attributes are only marked as taken.
        if (typeof value === "string" && field !== "provider_id") bag.drop(key);
        else bag.accept(key);
      } else if (body[field] === given || body[field] === readField(given, reader)) bag.accept(key);
    }
  }
}

function readField(given: unknown, reader: read.Reader<unknown>): unknown {
  // Python writes `True` when it converts a boolean to text.
  const value = reader(reader === read.boolean && typeof given === "string" ? given.toLowerCase() : given);
  if (!(value instanceof Problem)) return value;
  // Ids are sometimes sent as numbers.
  const text = asText(given);
  const asTextValue = text === undefined ? value : reader(text);
  return asTextValue instanceof Problem ? undefined : asTextValue;
}

/** Values computed by code: those that the field's reader refuses are left out and do not fail the span. */
function takeDerived(derived: SpanBody, body: SpanBody): void {
  for (const [field, given] of Object.entries(derived)) {
    if (body[field] !== undefined || given === undefined || given === null) continue;
    const value = wireFields.get(field)?.reader(given);
    if (value !== undefined && !(value instanceof Problem)) body[field] = given;
  }
}

/**
 * The first convention with counts of input or output decides how they relate to cached tokens; later ones only add
 * parts (cache, reasoning) that it lacks.
 */
function takeUsage(view: SpanView, convention: (typeof conventions)[number], usage: RawUsage): void {
  if (!convention.usage) return;
  const found =
    typeof convention.usage === "function" ? convention.usage(view) : readUsageTable(view, convention.usage);
  if (!found) return;
  const isFirst = usage.input === undefined && usage.output === undefined;
  const { convention: stated = convention.cache?.(view), ...counts } = found;
  // If the vocabulary is known to exclude cached tokens, its total is only its own sum and proves nothing.
  if (stated === "exclusive") delete counts.total;
  if (isFirst && (counts.input !== undefined || counts.output !== undefined)) usage.convention = stated;
  else if (usage.convention === "exclusive" || stated === "exclusive") return;
  addUsage(usage, counts);
}

/** Existing counts are kept. */
function addUsage(usage: RawUsage, counts: RawUsage): void {
  for (const name of Object.keys(counts) as Array<keyof RawUsage>)
    if (usage[name] === undefined) Object.assign(usage, { [name]: counts[name] });
}

function readUsageTable({ bag }: SpanView, table: UsageTable): RawUsage {
  const usage: RawUsage = {};
  for (const [name, keys] of Object.entries(table)) {
    for (const key of keys) {
      const given = bag.peek(key);
      const value = given === undefined || typeof given === "boolean" ? undefined : read.count(given);
      if (typeof value !== "number") continue;
      usage[name as CountOfUsage] = value;
      bag.accept(...keys.filter((other) => read.count(bag.peek(other) ?? "") === value));
      break;
    }
  }
  return usage;
}

function takeCost({ bag }: SpanView, convention: (typeof conventions)[number], body: SpanBody): void {
  if (!convention.cost && !convention.costParts) return;
  const given = (key: string): number | undefined => {
    const value = bag.has(key) ? read.money(bag.peek(key)) : undefined;
    return typeof value === "number" ? value : undefined;
  };
  const stated = (convention.cost ?? []).find((key) => given(key) !== undefined);
  if (stated !== undefined) {
    body["cost"] ??= given(stated);
    bag.accept(stated);
  }
  const parts = (convention.costParts ?? []).filter((key) => given(key) !== undefined);
  const sum = parts.reduce((total, key) => total + (given(key) ?? 0), 0);
  if (parts.length > 0 && typeof read.money(sum) === "number") body["cost"] ??= sum;
}

function takeContent(found: SpanContent | undefined, content: SpanContent): void {
  if (!found) return;
  const { prompt, system, completions, tools, input, output } = found;
  if (prompt && prompt.length > 0) content.prompt ??= prompt;
  content.system ??= system;
  if (completions && completions.length > 0) content.completions ??= completions;
  if (tools && tools.length > 0) content.tools ??= tools;
  content.input ??= input;
  content.output ??= output;
}

/** Messages replace input and output; those are only stored if there are no messages. */
export function placeContent(body: SpanBody, content: SpanContent): void {
  const { completions, tools, input, output, system } = content;
  const messages = content.prompt ?? (system === undefined ? [] : messagesOfInput(input));
  const prompt = withSystem(messages, system);
  if (prompt.length > 0) body["prompt_messages"] = prompt;
  if (messages.length === 0 && input !== undefined && input !== null) body["input"] = input;
  const { answer, all } = answersOf(completions ?? [], body["n"]);
  if (answer) body["completion_message"] = answer;
  else if (output !== undefined && output !== null) body["output"] = output;
  if (all) body["completion_messages"] = all;
  if (tools) body["tools"] = tools;
}

/** The input of an embedding is not a conversation, even if the request has messages. */
function placeEmbedded(body: SpanBody, { prompt = [] }: SpanContent): void {
  const texts = prompt.map(({ content }) => content);
  if (texts.length === 0) return;
  delete body["prompt_messages"];
  body["input"] ??= texts.length === 1 ? texts[0] : texts;
}

/** Messages in the input of a span whose instructions come from another vocabulary: plain text, or a request. */
function messagesOfInput(input: unknown): Message[] {
  const given = typeof input === "string" ? createNestedJson(domainLimits.bodyNodes).read(input) : input;
  if (typeof given === "string") return toMessages(given, "user");
  return readRequest(given)?.prompt ?? [];
}

function placeProvider(body: SpanBody, metadata: Metadata): void {
  const given = body["provider_id"];
  if (typeof given !== "string") return;
  const provider = providerOf(given);
  if (provider === undefined) {
    delete body["provider_id"];
    addMetadata(metadata, "gen_ai.system", given);
  } else body["provider_id"] = provider;
}

function placeUsage(body: SpanBody, raw: RawUsage): void {
  const usage = normalizeUsage(raw);
  if (!usage) return;
  const counts = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total,
    prompt_cache_hit_tokens: usage.cacheRead,
    prompt_cache_creation_tokens: usage.cacheWrite,
    cache_creation_1h_tokens: usage.cacheWrite1h,
    reasoning_tokens: usage.reasoning,
    audio_prompt_tokens: usage.audioInput || undefined,
    audio_completion_tokens: usage.audioOutput || undefined,
  };
  for (const [field, count] of Object.entries(counts)) {
    // A value that is not a count, such as half a token, must not fail the span.
    if (count !== undefined && typeof read.count(count) === "number") body[field] ??= count;
  }
  const details = usageDetailsOf({ ...partsWithoutField(raw), unplaced: usage.unplaced });
  const { serviceTier: service_tier, region } = raw;
  if ((details ?? service_tier ?? region) !== undefined) body["usage_details"] ??= { ...details, service_tier, region };
  // Exporters without a price send 0: unknown is not free.
  if (body["cost"] === 0 && (usage.total ?? 0) > 0) delete body["cost"];
}

/** The counts that have no field of their own. */
function partsWithoutField({
  cacheWrite1h: _1h,
  audioInput: _heard,
  audioOutput: _spoken,
  ...parts
}: RawUsage): RawUsage {
  return parts;
}

function linksOf({ links }: OtlpSpan): unknown[] {
  return links.slice(0, ingestLimits.otlpLinksPerSpan).map(({ traceId, spanId, attributes }) => ({
    trace_id: traceId,
    span_id: spanId,
    ...(attributes.size > 0 && { attributes: Object.fromEntries(attributes) }),
  }));
}
