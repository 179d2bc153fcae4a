import { spanColumns, spanStatusWords, type SpanColumn, type SpanRow } from "../domain/span.ts";
import { environments } from "../domain/principal.ts";
import { cleanText, isObject } from "../lib/json.ts";
import { domainLimits } from "../domain/limits.ts";
import { filterLimits } from "./limits.ts";
import type { Catalogue, Field, FieldFamily, FieldKind, Source, SqlScope, TextForm } from "./catalogue.ts";
import { createCatalogue } from "./catalogue.ts";
import { indexMetadata, pathSeparator, topKeyOf } from "./metadata-index.ts";

/** Sources that need the store of scores; without it every score is absent. */
export type ScoreSources = {
  /** The value of one evaluator's score on the span. */
  score(evaluator: string): Source<SpanRow>;
  /** The evaluators that scored the span. */
  evaluatorId: Source<SpanRow>;
};

/** The fields of spans. */
export function createSpanCatalogue(scores?: ScoreSources): Catalogue<SpanRow> {
  const evaluatorId = field("evaluator_id", "dynamic", [scores?.evaluatorId ?? absent], { nullable: true });
  return createCatalogue({
    fields: [...spanFields, evaluatorId],
    aliases,
    families: [metadataField, scoreFamily(scores)],
  });
}

const aliases: ReadonlyArray<readonly [string, string]> = [
  ["id", "unique_id"],
  ["workflow_name", "span_workflow_name"],
  ["total_cost", "cost"],
  ["total_request_tokens", "total_tokens"],
  ["all_tokens", "total_tokens"],
  ["input_tokens", "prompt_tokens"],
  ["output_tokens", "completion_tokens"],
  ["generation_time", "latency"],
  ["ttft", "time_to_first_token"],
  ["cache_bit", "cache_hit"],
  ["tools", "has_tool_calls"],
];

type FieldExtras = Partial<Pick<Field<SpanRow>, "nullable" | "choices" | "valueAliases" | "hidden">>;

function field(
  name: string,
  kind: FieldKind,
  sources: ReadonlyArray<Source<SpanRow>>,
  extras: FieldExtras = {},
): Field<SpanRow> {
  return {
    name,
    kind,
    sources,
    nullable: true,
    choices: [],
    valueAliases: new Map(),
    hidden: false,
    ...extras,
  };
}

function column(name: SpanColumn, form: TextForm = "plain"): Source<SpanRow> {
  return { sql: (scope) => scope.column(name), read: (row) => row[name], form };
}

function text(name: SpanColumn, extras?: FieldExtras): Field<SpanRow> {
  return field(name, "text", [column(name)], extras);
}

/** Integers are compared as doubles too, so that one rule holds for all numbers and both interpreters. */
function number(name: SpanColumn, extras?: FieldExtras): Field<SpanRow> {
  if (spanColumns[name] !== "integer") return field(name, "number", [column(name)], extras);
  const asDouble: Source<SpanRow> = { ...column(name), sql: (scope) => `toFloat64(${scope.column(name)})` };
  return field(name, "number", [asDouble], extras);
}

function boolean(name: SpanColumn): Field<SpanRow> {
  return field(name, "boolean", [column(name)], { choices: ["true", "false"] });
}

function derivedBoolean(name: string, source: Omit<Source<SpanRow>, "form">): Field<SpanRow> {
  return field(name, "boolean", [{ ...source, form: "plain" }], { nullable: false, choices: ["true", "false"] });
}

function time(name: SpanColumn, extras?: FieldExtras): Field<SpanRow> {
  return field(name, "time", [column(name)], extras);
}

/** Text that is searched rather than compared, in several columns, each plain or JSON. */
function payload(name: string, ...sources: ReadonlyArray<Source<SpanRow>>): Field<SpanRow> {
  return field(name, "text", sources, { hidden: true });
}

// The column is an enumeration in some schemas, where text functions and unknown names would fail.
const environment: Source<SpanRow> = {
  sql: (scope) => `toString(${scope.column("environment")})`,
  read: (row) => row.environment,
  form: "plain",
};

const isFailed = {
  sql: (scope) => `(${scope.column("status")} = 'failed' OR ifNull(${scope.column("status_code")} >= 400, 0))`,
  read: (row) => row.status === "failed" || Number(row.status_code ?? 0) >= 400,
} satisfies Omit<Source<SpanRow>, "form">;

const errorCount: Source<SpanRow> = {
  sql: (scope) => `toFloat64(${isFailed.sql(scope)})`,
  read: (row) => (isFailed.read(row) ? 1 : 0),
  form: "plain",
};

const isRootSpan = {
  sql: (scope) => `${scope.column("span_parent_id")} = ''`,
  read: (row) => (row.span_parent_id ?? "") === "",
} satisfies Omit<Source<SpanRow>, "form">;

const isPinned = {
  sql: (scope) => `ifNull(${scope.column("is_pinned")}, false)`,
  read: (row) => row.is_pinned === true,
} satisfies Omit<Source<SpanRow>, "form">;

const hasToolCalls = {
  sql: (scope) => `${scope.column("tool_calls")} NOT IN ('', '[]', 'null')`,
  read: ({ tool_calls: calls }) =>
    Array.isArray(calls)
      ? calls.length > 0
      : !["", "[]", "null"].includes(typeof calls === "string" ? calls : calls ? "{}" : ""),
} satisfies Omit<Source<SpanRow>, "form">;

const input = [column("input", "either"), column("prompt_messages", "json")];
const output = [
  column("output", "either"),
  column("completion_message", "json"),
  column("completion_messages", "json"),
];

const spanFields: ReadonlyArray<Field<SpanRow>> = [
  field("unique_id", "uuid", [column("unique_id")], { nullable: false }),
  time("timestamp", { nullable: false }),
  time("start_time"),
  text("status", { choices: ["success", "failed"], valueAliases: spanStatusWords }),
  number("status_code"),
  derivedBoolean("failed", isFailed),
  field("error_count", "number", [errorCount], { nullable: false }),
  text("error_message"),
  field("environment", "text", [environment], { choices: environments }),
  text("log_type"),
  text("log_method"),
  text("model"),
  text("provider_id"),
  text("deployment_id"),
  text("deployment_name"),
  text("customer_identifier"),
  text("customer_email"),
  text("customer_name"),
  text("thread_identifier"),
  text("session_identifier"),
  text("trace_group_identifier"),
  text("custom_identifier"),
  text("group_identifier"),
  text("evaluation_identifier"),
  text("trace_unique_id"),
  text("span_unique_id"),
  text("span_parent_id"),
  derivedBoolean("is_root_span", isRootSpan),
  text("span_name"),
  text("span_workflow_name"),
  text("prompt_id"),
  text("prompt_name"),
  text("response_id"),
  text("gateway_log_id"),
  text("scope_name", { hidden: true }),
  text("organization_key_id"),
  text("organization_key_name"),
  number("cost"),
  text("cost_source", { choices: ["stated", "computed"] }),
  text("price_version", { hidden: true }),
  text("unpriced"),
  number("latency"),
  number("time_to_first_token"),
  number("tokens_per_second"),
  number("routing_time"),
  number("prompt_tokens"),
  number("completion_tokens"),
  number("total_tokens"),
  number("prompt_cache_hit_tokens"),
  number("prompt_cache_creation_tokens"),
  number("reasoning_tokens"),
  boolean("stream"),
  boolean("cache_hit"),
  text("cache_key", { hidden: true }),
  derivedBoolean("has_tool_calls", hasToolCalls),
  boolean("positive_feedback"),
  derivedBoolean("is_pinned", isPinned),
  text("note"),
  number("temperature"),
  number("max_tokens"),
  payload("input", ...input),
  payload("output", ...output),
  payload("messages", ...input, ...output),
  payload("any_text", column("span_name"), column("error_message"), ...input, ...output),
  payload("prompt_messages", column("prompt_messages", "json")),
  payload("completion_message", column("completion_message", "json")),
  payload("completion_messages", column("completion_messages", "json")),
  payload("tool_calls", column("tool_calls", "json")),
  payload("metadata", column("metadata", "json")),
  payload("properties", column("properties", "json")),
];

const absent: Source<SpanRow> = { sql: () => "''", presentSql: () => "0", read: () => undefined, form: "plain" };

/**
 * `metadata__<key>`, and `metadata.<key>` as in condition policies. The key is matched literally; if it is absent and
 * contains `__`, it is a path: `metadata__a__b` is `a__b`, else `b` inside `a`. Reserved keys do not exist.
 */
const metadataField: FieldFamily<SpanRow> = (name) => {
  // Stored keys are always clean.
  const key = /^metadata(?:__|\.)(.+)$/s.exec(cleanText(name))?.[1];
  if (key === undefined || key.startsWith("_") || key.length > filterLimits.metadataKeyChars) return undefined;
  if (key.includes(pathSeparator)) return undefined;
  const source = key.includes("__") ? literalOrNested(key, key.split("__").join(pathSeparator)) : metadataKey(key);
  return field(`metadata__${key}`, "dynamic", [source]);
};

function metadataKey(key: string): Source<SpanRow> {
  const index = (scope: SqlScope) => scope.column("metadata_index", topKeyOf(key));
  return {
    sql: (scope) => `${index(scope)}[${scope.bind("String", key)}]`,
    presentSql: (scope) => `mapContains(${index(scope)}, ${scope.bind("String", key)})`,
    read: (row) => ownValue(metadataIndexOf(row), key),
    form: "either",
  };
}

function literalOrNested(key: string, path: string): Source<SpanRow> {
  const literal = metadataKey(key);
  const nested = metadataKey(path);
  return {
    sql: (scope) => `if(${presence(literal, scope)}, ${literal.sql(scope)}, ${nested.sql(scope)})`,
    presentSql: (scope) => `(${presence(literal, scope)} OR ${presence(nested, scope)})`,
    candidatesSql: (scope) => `mapValues(${scope.column("metadata_index", topKeyOf(path))})`,
    read: (row) => literal.read(row) ?? nested.read(row),
    form: "either",
  };
}

function presence(source: Source<SpanRow>, scope: Parameters<Source<SpanRow>["sql"]>[0]): string {
  return source.presentSql?.(scope) ?? "1";
}

function metadataIndexOf(row: SpanRow): Record<string, string> {
  return row.metadata_index ?? (isObject(row.metadata) ? indexMetadata(row.metadata) : {});
}

function ownValue(index: Record<string, string>, key: string): string | undefined {
  return Object.hasOwn(index, key) ? index[key] : undefined;
}

/** `scores__<evaluator id or slug>`; the field always exists, and is absent if there is no score. */
function scoreFamily(scores: ScoreSources | undefined): FieldFamily<SpanRow> {
  return (name) => {
    const evaluator = /^scores(?:__|\.)(.+)$/s.exec(name)?.[1];
    if (evaluator === undefined || evaluator.length > domainLimits.identifierChars) return undefined;
    return field(`scores__${evaluator}`, "dynamic", [scores?.score(evaluator) ?? absent]);
  };
}
