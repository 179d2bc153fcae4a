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
  type ScopeItems,
} from "./export-request.ts";
import { ProtobufReader, wire } from "./protobuf-reader.ts";

/**
 * Decodes an ExportTraceServiceRequest. Throws `OtlpDecodeError` if the structure around the spans is broken; a span
 * that is broken inside is left out and counted. https://github.com/open-telemetry/opentelemetry-proto
 */
export function decodeProtobufTraces(bytes: Buffer): ExportRequest<OtlpSpan> {
  return readExport(bytes, readSpan);
}

/** Decodes an ExportLogsServiceRequest, like `decodeProtobufTraces`. */
export function decodeProtobufLogs(bytes: Buffer): ExportRequest<OtlpLogRecord> {
  return readExport(bytes, readLogRecord);
}

type ReadItem<T> = (reader: ProtobufReader, budget: Budget) => T;

/** Both exports have the same structure: resources (1) with scopes (2) with items (2). */
function readExport<T>(bytes: Buffer, readItem: ReadItem<T>): ExportRequest<T> {
  const budget = createBudget(ingestLimits.otlpValues);
  const request: ExportRequest<T> = { groups: [], malformed: 0 };
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.is(1, wire.bytes)) readResource(reader.message(), request, { budget, readItem });
    else reader.skip();
  }
  return request;
}

type ItemContext<T> = { budget: Budget; readItem: ReadItem<T> };

function readResource<T>(reader: ProtobufReader, request: ExportRequest<T>, context: ItemContext<T>): void {
  const { budget } = context;
  budget.spend(itemCost);
  let resource: Attributes = new Map();
  const groups: Array<ScopeItems<T>> = [];
  while (reader.next()) {
    budget.spend();
    if (reader.is(1, wire.bytes)) resource = readScope(reader.message(), { budget, attributesField: 1 }).attributes;
    else if (reader.is(2, wire.bytes)) {
      const group = readScopeItems(reader.message(), request, context);
      if (group.items.length > 0) groups.push(group);
    } else reader.skip();
  }
  for (const group of groups) request.groups.push({ ...group, resource });
}

function readScopeItems<T>(
  reader: ProtobufReader,
  request: ExportRequest<T>,
  { budget, readItem }: ItemContext<T>,
): ScopeItems<T> {
  budget.spend(itemCost);
  let scope: OtlpScope = { name: "", version: "", attributes: new Map() };
  const items: T[] = [];
  while (reader.next()) {
    budget.spend();
    if (reader.is(1, wire.bytes)) scope = readScope(reader.message(), { budget, attributesField: 3 });
    else if (reader.is(2, wire.bytes)) {
      const inner = reader.message();
      budget.spend(itemCost);
      try {
        items.push(readItem(inner, budget));
      } catch (error) {
        if (!(error instanceof OtlpDecodeError) || error.reason === "too_large") throw error;
        request.malformed += 1;
      }
    } else reader.skip();
  }
  return { resource: new Map(), scope, items };
}

/** A resource is read as a scope without name and version: only the field number of the attributes differs. */
function readScope(
  reader: ProtobufReader,
  { budget, attributesField }: { budget: Budget; attributesField: number },
): OtlpScope {
  const scope: OtlpScope = { name: "", version: "", attributes: new Map() };
  while (reader.next()) {
    if (reader.is(attributesField, wire.bytes)) readAttribute(reader.message(), scope.attributes, budget);
    else if (reader.is(1, wire.bytes)) scope.name = reader.text();
    else if (reader.is(2, wire.bytes)) scope.version = reader.text();
    else reader.skip();
  }
  return scope;
}

function readSpan(reader: ProtobufReader, budget: Budget): OtlpSpan {
  const span: OtlpSpan = {
    traceId: "",
    spanId: "",
    parentSpanId: "",
    traceState: "",
    name: "",
    kind: 0,
    startNs: 0n,
    endNs: 0n,
    attributes: new Map(),
    droppedAttributes: 0,
    events: [],
    links: [],
    status: { code: 0, message: "" },
  };
  while (reader.next()) {
    if (reader.is(9, wire.bytes)) readAttribute(reader.message(), span.attributes, budget);
    else if (reader.is(1, wire.bytes)) span.traceId = reader.id(16);
    else if (reader.is(2, wire.bytes)) span.spanId = reader.id(8);
    else if (reader.is(3, wire.bytes)) span.traceState = reader.text();
    else if (reader.is(4, wire.bytes)) span.parentSpanId = reader.id(8);
    else if (reader.is(5, wire.bytes)) span.name = reader.text();
    else if (reader.is(6, wire.varint)) span.kind = reader.uint32();
    else if (reader.is(7, wire.fixed64)) span.startNs = reader.fixed64();
    else if (reader.is(8, wire.fixed64)) span.endNs = reader.fixed64();
    else if (reader.is(10, wire.varint)) span.droppedAttributes = reader.uint32();
    else if (reader.is(11, wire.bytes)) span.events.push(readEvent(reader.message(), budget));
    else if (reader.is(13, wire.bytes)) span.links.push(readLink(reader.message(), budget));
    else if (reader.is(15, wire.bytes)) span.status = readStatus(reader.message());
    else reader.skip();
  }
  return span;
}

function readEvent(reader: ProtobufReader, budget: Budget): OtlpEvent {
  budget.spend();
  const event: OtlpEvent = { name: "", timeNs: 0n, attributes: new Map() };
  while (reader.next()) {
    if (reader.is(1, wire.fixed64)) event.timeNs = reader.fixed64();
    else if (reader.is(2, wire.bytes)) event.name = reader.text();
    else if (reader.is(3, wire.bytes)) readAttribute(reader.message(), event.attributes, budget);
    else reader.skip();
  }
  return event;
}

function readLink(reader: ProtobufReader, budget: Budget): OtlpLink {
  budget.spend();
  const link: OtlpLink = { traceId: "", spanId: "", attributes: new Map() };
  while (reader.next()) {
    if (reader.is(1, wire.bytes)) link.traceId = reader.id(16);
    else if (reader.is(2, wire.bytes)) link.spanId = reader.id(8);
    else if (reader.is(4, wire.bytes)) readAttribute(reader.message(), link.attributes, budget);
    else reader.skip();
  }
  return link;
}

function readStatus(reader: ProtobufReader): OtlpSpan["status"] {
  const status = { code: 0, message: "" };
  while (reader.next()) {
    if (reader.is(2, wire.bytes)) status.message = reader.text();
    else if (reader.is(3, wire.varint)) status.code = reader.uint32();
    else reader.skip();
  }
  return status;
}

function readLogRecord(reader: ProtobufReader, budget: Budget): OtlpLogRecord {
  const record: OtlpLogRecord = {
    traceId: "",
    spanId: "",
    timeNs: 0n,
    severity: 0,
    eventName: "",
    body: null,
    attributes: new Map(),
  };
  while (reader.next()) {
    if (reader.is(1, wire.fixed64)) record.timeNs = reader.fixed64();
    else if (reader.is(2, wire.varint)) record.severity = reader.uint32();
    else if (reader.is(5, wire.bytes)) record.body = readValue(reader.message(), valueDepthMax, budget);
    else if (reader.is(6, wire.bytes)) readAttribute(reader.message(), record.attributes, budget);
    else if (reader.is(9, wire.bytes)) record.traceId = reader.id(16);
    else if (reader.is(10, wire.bytes)) record.spanId = reader.id(8);
    else if (reader.is(12, wire.bytes)) record.eventName = reader.text();
    else reader.skip();
  }
  return record;
}

function readAttribute(reader: ProtobufReader, into: Attributes, budget: Budget): void {
  const { key, value } = readKeyValue(reader, valueDepthMax, budget);
  into.set(key, value);
}

function readKeyValue(
  reader: ProtobufReader,
  depthLeft: number,
  budget: Budget,
): { key: string; value: AttributeValue } {
  budget.spend();
  let key = "";
  let value: AttributeValue = null;
  while (reader.next()) {
    if (reader.is(1, wire.bytes)) key = reader.text();
    else if (reader.is(2, wire.bytes)) value = readValue(reader.message(), depthLeft, budget);
    else reader.skip();
  }
  return { key, value };
}

function readValue(reader: ProtobufReader, depthLeft: number, budget: Budget): AttributeValue {
  let value: AttributeValue = null;
  while (reader.next()) {
    if (reader.is(1, wire.bytes)) value = reader.text();
    else if (reader.is(2, wire.varint)) value = reader.bool();
    else if (reader.is(3, wire.varint)) value = reader.int64();
    else if (reader.is(4, wire.fixed64)) value = doubleValue(reader.double());
    else if (reader.is(5, wire.bytes)) value = readList(reader.message(), depthLeft - 1, budget);
    else if (reader.is(6, wire.bytes)) value = readObject(reader.message(), depthLeft - 1, budget);
    else if (reader.is(7, wire.bytes)) value = reader.base64();
    else reader.skip();
  }
  return value;
}

function readList(reader: ProtobufReader, depthLeft: number, budget: Budget): AttributeValue {
  if (depthLeft < 0) return null;
  const list: AttributeValue[] = [];
  while (reader.next()) {
    if (reader.is(1, wire.bytes)) {
      budget.spend();
      list.push(readValue(reader.message(), depthLeft, budget));
    } else reader.skip();
  }
  return list;
}

function readObject(reader: ProtobufReader, depthLeft: number, budget: Budget): AttributeValue {
  if (depthLeft < 0) return null;
  const object = emptyObject();
  while (reader.next()) {
    if (reader.is(1, wire.bytes)) {
      const { key, value } = readKeyValue(reader.message(), depthLeft, budget);
      object[key] = value;
    } else reader.skip();
  }
  return object;
}
