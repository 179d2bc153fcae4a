import { countJsonNodes, isObject, isRawNumber, parseJson, rawJson, type RawNumber } from "../../lib/json.ts";
import { ingestLimits } from "../limits.ts";
import {
  createBudget,
  doubleValue,
  emptyObject,
  itemCost,
  OtlpDecodeError,
  valueDepthMax,
  type AttributeValue,
  type Attributes,
  type Budget,
  type ExportRequest,
  type OtlpEvent,
  type OtlpLink,
  type OtlpLogRecord,
  type OtlpScope,
  type OtlpSpan,
} from "./export-request.ts";

/**
 * Decodes an OTLP/JSON trace export, at least as leniently as the OpenTelemetry Collector: snake_case beside camelCase,
 * base64 beside hex ids, names beside numbers of enums, `instrumentationLibrarySpans` of old exporters. Throws
 * `OtlpDecodeError` if the body is not a trace export; single spans that are not objects are counted as malformed.
 */
export function decodeJsonTraces(bytes: Buffer): ExportRequest<OtlpSpan> {
  return readExport(bytes, {
    resources: ["resourceSpans", "resource_spans"],
    scopes: ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"],
    items: ["spans"],
    read: readSpan,
  });
}

/** Decodes an OTLP/JSON logs export, like `decodeJsonTraces`. */
export function decodeJsonLogs(bytes: Buffer): ExportRequest<OtlpLogRecord> {
  return readExport(bytes, {
    resources: ["resourceLogs", "resource_logs"],
    scopes: ["scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs"],
    items: ["logRecords", "log_records", "logs"],
    read: readLogRecord,
  });
}

type Json = Record<string, unknown>;
type Names = readonly string[];
type Shape<T> = { resources: Names; scopes: Names; items: Names; read: (item: Json, budget: Budget) => T };

const otherSignals: ReadonlyArray<{ names: Names; hint: string }> = [
  { names: ["resourceLogs", "resource_logs"], hint: " These are logs: send them to /api/v1/logs." },
  { names: ["resourceMetrics", "resource_metrics"], hint: " These are metrics: send them to /api/v1/metrics." },
  { names: ["resourceSpans", "resource_spans"], hint: " These are traces: send them to /api/v2/traces." },
];

function readExport<T>(bytes: Buffer, shape: Shape<T>): ExportRequest<T> {
  if (
    bytes.length > ingestLimits.otlpJsonNodes &&
    countJsonNodes(bytes, ingestLimits.otlpJsonNodes) > ingestLimits.otlpJsonNodes
  ) {
    throw new OtlpDecodeError("too_large", `The export holds more than ${ingestLimits.otlpJsonNodes} keys and values.`);
  }
  const parsed = parseJson(bytes);
  if (!parsed.ok) throw new OtlpDecodeError("malformed", `The body is ${parsed.message}.`);
  const root = isObject(parsed.value) ? parsed.value : {};
  const resources = member(root, ...shape.resources);
  if (!Array.isArray(resources)) {
    const hint =
      otherSignals.find(({ names }) => names[0] !== shape.resources[0] && member(root, ...names) !== undefined)?.hint ??
      "";
    throw new OtlpDecodeError("malformed", `The body must be an object whose ${shape.resources[0]} is a list.${hint}`);
  }

  const budget = createBudget(ingestLimits.otlpValues);
  const request: ExportRequest<T> = { groups: [], malformed: 0 };
  for (const resource of resources as unknown[]) {
    if (!isObject(resource)) continue;
    budget.spend(itemCost);
    const attributes = readAttributes(member(asObject(resource["resource"]), "attributes"), budget);
    for (const scope of listOf(member(resource, ...shape.scopes))) {
      if (!isObject(scope)) continue;
      budget.spend(itemCost);
      const items: T[] = [];
      for (const item of listOf(member(scope, ...shape.items))) {
        budget.spend(itemCost);
        if (isObject(item)) items.push(shape.read(item, budget));
        else request.malformed += 1;
      }
      const group = { resource: attributes, scope: readScope(scope, budget), items };
      if (items.length > 0) request.groups.push(group);
    }
  }
  return request;
}

function readScope(scopeItems: Json, budget: Budget): OtlpScope {
  const scope = asObject(member(scopeItems, "scope", "instrumentationLibrary", "instrumentation_library"));
  return {
    name: text(scope["name"]),
    version: text(scope["version"]),
    attributes: readAttributes(scope["attributes"], budget),
  };
}

function readSpan(span: Json, budget: Budget): OtlpSpan {
  const status = asObject(span["status"]);
  return {
    traceId: readId(member(span, "traceId", "trace_id"), 16),
    spanId: readId(member(span, "spanId", "span_id"), 8),
    parentSpanId: readId(member(span, "parentSpanId", "parent_span_id"), 8),
    traceState: text(member(span, "traceState", "trace_state")),
    name: text(span["name"]),
    kind: readEnum(span["kind"], spanKinds),
    startNs: readTime(member(span, "startTimeUnixNano", "start_time_unix_nano")),
    endNs: readTime(member(span, "endTimeUnixNano", "end_time_unix_nano")),
    attributes: readAttributes(span["attributes"], budget),
    droppedAttributes: readEnum(member(span, "droppedAttributesCount", "dropped_attributes_count"), noNames),
    events: objectsOf(span["events"]).map((event) => readEvent(event, budget)),
    links: objectsOf(span["links"]).map((link) => readLink(link, budget)),
    status: {
      code: readEnum(member(status, "code", "deprecatedCode", "deprecated_code"), statusCodes),
      message: text(status["message"]),
    },
  };
}

function readEvent(event: Json, budget: Budget): OtlpEvent {
  budget.spend();
  return {
    name: text(event["name"]),
    timeNs: readTime(member(event, "timeUnixNano", "time_unix_nano")),
    attributes: readAttributes(event["attributes"], budget),
  };
}

function readLink(link: Json, budget: Budget): OtlpLink {
  budget.spend();
  return {
    traceId: readId(member(link, "traceId", "trace_id"), 16),
    spanId: readId(member(link, "spanId", "span_id"), 8),
    attributes: readAttributes(link["attributes"], budget),
  };
}

function readLogRecord(record: Json, budget: Budget): OtlpLogRecord {
  return {
    traceId: readId(member(record, "traceId", "trace_id"), 16),
    spanId: readId(member(record, "spanId", "span_id"), 8),
    timeNs: readTime(member(record, "timeUnixNano", "time_unix_nano")),
    severity: readEnum(member(record, "severityNumber", "severity_number"), severities),
    eventName: text(member(record, "eventName", "event_name")),
    body: readValue(record["body"], valueDepthMax, budget),
    attributes: readAttributes(record["attributes"], budget),
  };
}

/** A list of `{key, value}`; a plain object of values is accepted too. */
function readAttributes(value: unknown, budget: Budget): Attributes {
  const attributes: Attributes = new Map();
  if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      budget.spend();
      attributes.set(key, readValue(item, valueDepthMax, budget));
    }
    return attributes;
  }
  for (const item of objectsOf(value)) {
    budget.spend();
    if (typeof item["key"] === "string") attributes.set(item["key"], readValue(item["value"], valueDepthMax, budget));
  }
  return attributes;
}

/**
 * An AnyValue: its member name states the type; without one, or with an unknown type, it is null. Other JSON is read as
 * plain data: it is written by hand, or by exporters that take attributes for an object.
 */
function readValue(value: unknown, depthLeft: number, budget: Budget): AttributeValue {
  if (isScalar(value)) return value;
  if (Array.isArray(value)) return readList(value, depthLeft, budget);
  if (!isObject(value)) return null;
  const names = Object.keys(value);
  for (const name of names) {
    const given = value[name];
    if (given === null || given === undefined) continue;
    const read = valueReaders.get(name);
    if (read) return read(given, depthLeft, budget);
  }
  const isTyped =
    names.length < 2 ? /^$|Value|_value/.test(names[0] ?? "") : names.some((name) => valueReaders.has(name));
  return isTyped ? null : readPlain(value, depthLeft, budget);
}

function readPlain(given: Json, depthLeft: number, budget: Budget): AttributeValue {
  if (depthLeft < 1) return null;
  const object = emptyObject();
  for (const [key, value] of Object.entries(given)) {
    budget.spend();
    object[key] = readValue(value, depthLeft - 1, budget);
  }
  return object;
}

type ReadValue = (given: unknown, depthLeft: number, budget: Budget) => AttributeValue;

const valueReaders: ReadonlyMap<string, ReadValue> = new Map<string, ReadValue>(
  Object.entries<ReadValue>({
    string: (given) => (isScalar(given) ? String(isRawNumber(given) ? given.rawJSON : given) : null),
    bool: (given) => (typeof given === "boolean" ? given : given === "true" ? true : given === "false" ? false : null),
    int: readInt64,
    double: readDouble,
    array: readList,
    kvlist: readKeyValues,
    bytes: (given) => (typeof given === "string" ? Buffer.from(given, "base64").toString("base64") : null),
  }).flatMap(([kind, read]): Array<[string, ReadValue]> => [
    [`${kind}Value`, read],
    [`${kind}_value`, read],
  ]),
);

/**
 * Text that is not a finite number stays text: JSON has no "NaN" and "Infinity", and any other text is kept as sent.
 */
function readDouble(given: unknown): AttributeValue {
  if (typeof given === "number") return doubleValue(given);
  if (typeof given !== "string") return isRawNumber(given) ? given : null;
  const number = given.trim() === "" ? Number.NaN : Number(given);
  return Number.isFinite(number) ? number : given;
}

function readInt64(given: unknown): AttributeValue {
  if (typeof given === "number") return doubleValue(given);
  if (isRawNumber(given)) return given;
  if (typeof given !== "string" || !/^\s*-?\d{1,20}\s*$/.test(given)) return typeof given === "string" ? given : null;
  const number = Number(given);
  return Number.isSafeInteger(number) ? number : rawJson(BigInt(given).toString());
}

function readList(given: unknown, depthLeft: number, budget: Budget): AttributeValue {
  if (depthLeft < 1) return null;
  return listOf(Array.isArray(given) ? given : asObject(given)["values"]).map((item) => {
    budget.spend();
    return readValue(item, depthLeft - 1, budget);
  });
}

function readKeyValues(given: unknown, depthLeft: number, budget: Budget): AttributeValue {
  if (depthLeft < 1) return null;
  const object = emptyObject();
  for (const item of objectsOf(Array.isArray(given) ? given : asObject(given)["values"])) {
    budget.spend();
    if (typeof item["key"] === "string") object[item["key"]] = readValue(item["value"], depthLeft - 1, budget);
  }
  return object;
}

/** Hex in any case, or base64 as old clients send it, distinguished by length. "" for everything else and for zeros. */
function readId(value: unknown, bytes: number): string {
  if (typeof value !== "string") return "";
  const hex = hexOf(value, bytes);
  return /[1-9a-f]/.test(hex) ? hex : "";
}

function hexOf(text: string, bytes: number): string {
  if (text.length === bytes * 2) return /^[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : "";
  const base64Chars = Math.ceil((bytes * 4) / 3);
  if (!/^[\w+/-]+={0,2}$/.test(text) || text.replace(/=+$/, "").length !== base64Chars) return "";
  const decoded = Buffer.from(text, "base64");
  return decoded.length === bytes ? decoded.toString("hex") : "";
}

const uint64Max = 2n ** 64n - 1n;

/** Nanoseconds, as digits or as a number; 0 for everything else. */
function readTime(value: unknown): bigint {
  const digits = isRawNumber(value) ? value.rawJSON : typeof value === "string" ? value.trim() : "";
  if (/^\d{1,20}$/.test(digits)) {
    const ns = BigInt(digits);
    return ns <= uint64Max ? ns : 0n;
  }
  return typeof value === "number" && value >= 0 && value < 2 ** 64 ? BigInt(Math.trunc(value)) : 0n;
}

const noNames: ReadonlyMap<string, number> = new Map();
const spanKinds = namesOf("SPAN_KIND_", ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]);
const statusCodes = namesOf("STATUS_CODE_", ["UNSET", "OK", "ERROR"]);
const severities = namesOf("SEVERITY_NUMBER_", [
  "UNSPECIFIED",
  ...["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"].flatMap((name) => [name, `${name}2`, `${name}3`, `${name}4`]),
]);

function namesOf(prefix: string, names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, number) => [prefix + name, number]));
}

function readEnum(value: unknown, names: ReadonlyMap<string, number>): number {
  const number = typeof value === "string" ? (names.get(value.toUpperCase()) ?? Number(value)) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number < 2 ** 32 ? number : 0;
}

/** The first member that is present. */
function member(object: Json, ...names: Names): unknown {
  for (const name of names) {
    const value = object[name];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function isScalar(value: unknown): value is string | number | boolean | RawNumber {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" || isRawNumber(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const nothing: Json = Object.freeze({});

function asObject(value: unknown): Json {
  return isObject(value) ? value : nothing;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function objectsOf(value: unknown): Json[] {
  return listOf(value).filter(isObject);
}
