/**
 * A small protobuf encoder for OTLP exports, independent of the decoder under test: its input has the OTLP/JSON shape, so that one value
 * can be sent in both encodings. Ids are hex, times decimal text or bigint.
 */
export type JsonAnyValue = {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string | number;
  doubleValue?: number;
  arrayValue?: { values?: JsonAnyValue[] };
  kvlistValue?: { values?: JsonKeyValue[] };
  bytesValue?: string;
};
export type JsonKeyValue = { key: string; value?: JsonAnyValue };
type JsonScope = { name?: string; version?: string; attributes?: JsonKeyValue[] };
type JsonResource = { attributes?: JsonKeyValue[] };
export type JsonEvent = { name?: string; timeUnixNano?: string; attributes?: JsonKeyValue[] };
export type JsonSpan = {
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  traceState?: string;
  name?: string;
  kind?: number;
  startTimeUnixNano?: string;
  endTimeUnixNano?: string;
  attributes?: JsonKeyValue[];
  droppedAttributesCount?: number;
  events?: JsonEvent[];
  links?: Array<{ traceId?: string; spanId?: string; attributes?: JsonKeyValue[] }>;
  status?: { code?: number; message?: string };
};
export type JsonLogRecord = {
  timeUnixNano?: string;
  body?: JsonAnyValue;
  attributes?: JsonKeyValue[];
  traceId?: string;
  spanId?: string;
  eventName?: string;
  severityNumber?: number;
};
export type JsonTraces = {
  resourceSpans: Array<{ resource?: JsonResource; scopeSpans?: Array<{ scope?: JsonScope; spans?: JsonSpan[] }> }>;
};
export type JsonLogs = {
  resourceLogs: Array<{
    resource?: JsonResource;
    scopeLogs?: Array<{ scope?: JsonScope; logRecords?: JsonLogRecord[] }>;
  }>;
};

export function encodeTraces(traces: JsonTraces): Buffer {
  return concat(
    traces.resourceSpans.map((resource) =>
      message(1, [
        message(1, attributes(1, resource.resource?.attributes)),
        ...(resource.scopeSpans ?? []).map((scope) =>
          message(2, [encodeScope(scope.scope), ...(scope.spans ?? []).map((span) => message(2, encodeSpan(span)))]),
        ),
      ]),
    ),
  );
}

export function encodeLogs(logs: JsonLogs): Buffer {
  return concat(
    logs.resourceLogs.map((resource) =>
      message(1, [
        message(1, attributes(1, resource.resource?.attributes)),
        ...(resource.scopeLogs ?? []).map((scope) =>
          message(2, [
            encodeScope(scope.scope),
            ...(scope.logRecords ?? []).map((record) => message(2, encodeLogRecord(record))),
          ]),
        ),
      ]),
    ),
  );
}

function encodeScope(scope: JsonScope = {}): Buffer {
  return message(1, [text(1, scope.name), text(2, scope.version), ...attributes(3, scope.attributes)]);
}

function encodeSpan(span: JsonSpan): Buffer[] {
  return [
    id(1, span.traceId),
    id(2, span.spanId),
    text(3, span.traceState),
    id(4, span.parentSpanId),
    text(5, span.name),
    varintField(6, span.kind),
    fixed64(7, span.startTimeUnixNano),
    fixed64(8, span.endTimeUnixNano),
    ...attributes(9, span.attributes),
    varintField(10, span.droppedAttributesCount),
    ...(span.events ?? []).map((event) =>
      message(11, [fixed64(1, event.timeUnixNano), text(2, event.name), ...attributes(3, event.attributes)]),
    ),
    ...(span.links ?? []).map((link) =>
      message(13, [id(1, link.traceId), id(2, link.spanId), ...attributes(4, link.attributes)]),
    ),
    ...(span.status ? [message(15, [text(2, span.status.message), varintField(3, span.status.code)])] : []),
  ];
}

function encodeLogRecord(record: JsonLogRecord): Buffer[] {
  return [
    fixed64(1, record.timeUnixNano),
    varintField(2, record.severityNumber),
    ...(record.body ? [message(5, anyValue(record.body))] : []),
    ...attributes(6, record.attributes),
    id(9, record.traceId),
    id(10, record.spanId),
    text(12, record.eventName),
  ];
}

function attributes(field: number, list: JsonKeyValue[] = []): Buffer[] {
  return list.map((item) => message(field, keyValue(item)));
}

function keyValue({ key, value }: JsonKeyValue): Buffer[] {
  return [text(1, key), ...(value ? [message(2, anyValue(value))] : [])];
}

function anyValue(value: JsonAnyValue): Buffer[] {
  if (value.stringValue !== undefined) return [text(1, value.stringValue, true)];
  if (value.boolValue !== undefined) return [tag(2, 0), varint(value.boolValue ? 1n : 0n)];
  if (value.intValue !== undefined) return [tag(3, 0), varint(BigInt.asUintN(64, BigInt(value.intValue)))];
  if (value.doubleValue !== undefined) return [tag(4, 1), double(value.doubleValue)];
  if (value.arrayValue) {
    return [
      message(
        5,
        (value.arrayValue.values ?? []).map((item) => message(1, anyValue(item))),
      ),
    ];
  }
  if (value.kvlistValue) {
    return [
      message(
        6,
        (value.kvlistValue.values ?? []).map((item) => message(1, keyValue(item))),
      ),
    ];
  }
  return value.bytesValue === undefined ? [] : [bytes(7, Buffer.from(value.bytesValue, "base64"))];
}

function message(field: number, parts: Buffer[]): Buffer {
  return bytes(field, concat(parts));
}

function text(field: number, value: string | undefined, always = false): Buffer {
  return value === undefined || (value === "" && !always) ? Buffer.alloc(0) : bytes(field, Buffer.from(value, "utf8"));
}

function id(field: number, hex: string | undefined): Buffer {
  return hex === undefined || hex === "" ? Buffer.alloc(0) : bytes(field, Buffer.from(hex, "hex"));
}

export function bytes(field: number, value: Buffer): Buffer {
  return concat([tag(field, 2), varint(BigInt(value.length)), value]);
}

function varintField(field: number, value: number | undefined): Buffer {
  return value === undefined ? Buffer.alloc(0) : concat([tag(field, 0), varint(BigInt(value))]);
}

function fixed64(field: number, value: string | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  const eight = Buffer.alloc(8);
  eight.writeBigUInt64LE(BigInt(value));
  return concat([tag(field, 1), eight]);
}

function double(value: number): Buffer {
  const eight = Buffer.alloc(8);
  eight.writeDoubleLE(value);
  return eight;
}

function tag(field: number, wireType: number): Buffer {
  return varint(BigInt((field << 3) | wireType));
}

function varint(value: bigint): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 0x7fn) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Buffer.from(out);
}

function concat(parts: Buffer[]): Buffer {
  return Buffer.concat(parts);
}
