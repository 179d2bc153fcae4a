import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, encodeLogs, encodeTraces } from "../../../test/support/otlp-encoder.ts";
import type { JsonAnyValue, JsonKeyValue, JsonSpan, JsonTraces } from "../../../test/support/otlp-encoder.ts";
import { decodeJsonLogs, decodeJsonTraces } from "./decode-json.ts";
import { decodeProtobufLogs, decodeProtobufTraces } from "./decode-protobuf.ts";
import { OtlpDecodeError, type AttributeValue, type ExportRequest, type OtlpSpan } from "./export-request.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

const tracesOf = (spans: unknown[]): JsonTraces => ({
  resourceSpans: [{ scopeSpans: [{ spans: spans as JsonSpan[] }] }],
});
const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const spansOf = (request: ExportRequest<OtlpSpan>): OtlpSpan[] => request.groups.flatMap((group) => group.items);
const fromJson = (span: unknown): OtlpSpan => spansOf(decodeJsonTraces(jsonBytes(tracesOf([span]))))[0]!;
const valueOf = (value: unknown): AttributeValue | undefined =>
  fromJson({ attributes: [{ key: "k", value }] }).attributes.get("k");

/** Decodes; returns whether it succeeded or threw the only allowed error. Other errors propagate. */
function isOrderly(decode: (data: Buffer) => unknown, data: Buffer): boolean {
  try {
    decode(data);
    return true;
  } catch (error) {
    if (error instanceof OtlpDecodeError) return true;
    throw error;
  }
}

/** A comparable form: maps and objects without prototype become plain data, digits become text. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) =>
      typeof item === "bigint" ? item.toString() : item instanceof Map ? [...item] : item,
    ),
  );
}

const hex = (chars: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...Array.from("0123456789abcdef")), { minLength: chars, maxLength: chars })
    .map((digits) => digits.join(""))
    .filter((id) => /[1-9a-f]/.test(id));
const cleanString = fc.string({ unit: "binary" }).map((text) => text.toWellFormed().replaceAll("\0", ""));
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const { value: anyValue } = fc.letrec<{ value: JsonAnyValue; pair: JsonKeyValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ stringValue: cleanString }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)) }),
    fc.record({ bytesValue: fc.uint8Array().map((array) => Buffer.from(array).toString("base64")) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie("value"), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie("pair"), { maxLength: 3 }) }) }),
  ),
  pair: fc.record({ key: fc.oneof(cleanString, fc.constant("__proto__")), value: tie("value") }),
}));
const pairs = fc.array(fc.record({ key: cleanString, value: anyValue }), { maxLength: 4 });
const span = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16),
  traceState: cleanString,
  name: cleanString,
  kind: fc.nat(5),
  startTimeUnixNano: uint64,
  endTimeUnixNano: uint64,
  attributes: pairs,
  droppedAttributesCount: fc.nat(),
  events: fc.array(fc.record({ name: cleanString, timeUnixNano: uint64, attributes: pairs }), { maxLength: 2 }),
  links: fc.array(fc.record({ traceId: hex(32), spanId: hex(16), attributes: pairs }), { maxLength: 2 }),
  status: fc.record({ code: fc.nat(2), message: cleanString }),
});
const traces: fc.Arbitrary<JsonTraces> = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource: fc.record({ attributes: pairs }),
      scopeSpans: fc.array(
        fc.record({
          scope: fc.record({ name: cleanString, version: cleanString, attributes: pairs }),
          spans: fc.array(span, { maxLength: 3 }),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 2 },
  ),
});

describe("both encodings", () => {
  test("decode the same export to the same result", () => {
    fc.assert(
      fc.property(traces, (given) => {
        const fromProtobuf = decodeProtobufTraces(encodeTraces(given));
        expect(plain(fromProtobuf)).toEqual(plain(decodeJsonTraces(jsonBytes(given))));
        const sent = given.resourceSpans.flatMap((resource) => resource.scopeSpans!.flatMap((scope) => scope.spans!));
        expect(spansOf(fromProtobuf).map((item) => [item.traceId, item.spanId, item.name, item.startNs])).toEqual(
          sent.map((item) => [item.traceId, item.spanId, item.name, BigInt(item.startTimeUnixNano!)]),
        );
      }),
      { numRuns: 150 },
    );
  });

  test("decode log records to the same result", () => {
    const logs = {
      resourceLogs: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "a" } }] },
          scopeLogs: [
            {
              scope: { name: "s" },
              logRecords: [
                {
                  traceId,
                  spanId,
                  timeUnixNano: "1700000000000000001",
                  severityNumber: 13,
                  eventName: "gen_ai.choice",
                  body: { kvlistValue: { values: [{ key: "index", value: { intValue: "0" } }] } },
                  attributes: [{ key: "k", value: { stringValue: "v" } }],
                },
              ],
            },
          ],
        },
      ],
    };
    const read = decodeProtobufLogs(encodeLogs(logs));
    expect(plain(read)).toEqual(plain(decodeJsonLogs(jsonBytes(logs))));
    const record = { traceId, spanId, severity: 13, eventName: "gen_ai.choice", body: { index: 0 } };
    expect(read.groups[0]?.items[0]).toMatchObject(record);
  });

  test("keep every integer exact", () => {
    fc.assert(
      fc.property(int64, (digits) => {
        const given = tracesOf([{ attributes: [{ key: "k", value: { intValue: digits } }] }]);
        for (const read of [decodeProtobufTraces(encodeTraces(given)), decodeJsonTraces(jsonBytes(given))]) {
          expect(JSON.stringify(spansOf(read)[0]?.attributes.get("k"))).toBe(digits);
        }
      }),
    );
  });

  test("stop at a depth of 32 without losing the span", () => {
    let deep: JsonAnyValue = { stringValue: "bottom" };
    for (let level = 0; level < 200; level += 1) deep = { arrayValue: { values: [deep] } };
    const given = tracesOf([
      {
        name: "deep",
        attributes: [
          { key: "k", value: deep },
          { key: "after", value: { intValue: 1 } },
        ],
      },
    ]);
    for (const read of [decodeProtobufTraces(encodeTraces(given)), decodeJsonTraces(jsonBytes(given))]) {
      const [item] = spansOf(read);
      expect(item?.attributes.get("after")).toBe(1);
      expect(JSON.stringify(item?.attributes.get("k"))).toBe(`${"[".repeat(32)}null${"]".repeat(32)}`);
    }
  });

  test("a hostile key is an ordinary key", () => {
    const pollute = { kvlistValue: { values: [{ key: "__proto__", value: { stringValue: "polluted" } }] } };
    const given = tracesOf([
      {
        attributes: [
          { key: "__proto__", value: { stringValue: "x" } },
          { key: "o", value: pollute },
        ],
      },
    ]);
    for (const read of [decodeProtobufTraces(encodeTraces(given)), decodeJsonTraces(jsonBytes(given))]) {
      const [item] = spansOf(read);
      expect(item?.attributes.get("__proto__")).toBe("x");
      expect(JSON.stringify(item?.attributes.get("o"))).toBe('{"__proto__":"polluted"}');
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("protobuf", () => {
  test("random bytes only cause the typed error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (array) => {
        expect(isOrderly(decodeProtobufTraces, Buffer.from(array))).toBe(true);
        expect(isOrderly(decodeProtobufLogs, Buffer.from(array))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("an export truncated or changed anywhere only causes the typed error", () => {
    fc.assert(
      fc.property(traces, fc.nat(), fc.nat(255), (given, at, byte) => {
        const whole = encodeTraces(given);
        if (whole.length === 0) return;
        const changed = Buffer.from(whole);
        changed[at % whole.length] = byte;
        expect(isOrderly(decodeProtobufTraces, changed)).toBe(true);
        expect(isOrderly(decodeProtobufTraces, whole.subarray(0, at % whole.length))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("a span that is broken inside does not affect its neighbours", () => {
    const broken = bytes(2, Buffer.from([0x0a, 0x7f]));
    const whole = encodeTraces(tracesOf([{ traceId, spanId, name: "whole" }]));
    const scope = Buffer.concat([broken, spanBytes(whole)]);
    const read = decodeProtobufTraces(bytes(1, bytes(2, scope)));
    expect(read.malformed).toBe(1);
    expect(spansOf(read)).toMatchObject([{ name: "whole" }]);
  });

  test("a claimed length does not allocate and is refused", () => {
    const claimed = Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    expect(() => decodeProtobufTraces(claimed)).toThrow(OtlpDecodeError);
  });

  test("invalid UTF-8 reads as U+FFFD", () => {
    const nameBytes = bytes(5, Buffer.from([0x61, 0xff, 0x62]));
    const read = decodeProtobufTraces(bytes(1, bytes(2, bytes(2, nameBytes))));
    expect(spansOf(read)[0]?.name).toBe("a\uFFFDb");
  });

  test("groups and unknown fields are skipped", () => {
    const group = Buffer.from([0x9b, 0x06, 0x08, 0x01, 0x9c, 0x06]);
    const whole = encodeTraces(tracesOf([{ traceId, spanId, name: "after a group" }]));
    expect(spansOf(decodeProtobufTraces(Buffer.concat([group, whole])))[0]?.name).toBe("after a group");
  });

  test("more values than the limit are refused as too large", () => {
    const empty = Buffer.alloc(260_000, Buffer.from([0x12, 0x00]));
    const read = (): unknown => decodeProtobufTraces(bytes(1, bytes(2, empty)));
    expect(read).toThrow(expect.objectContaining({ reason: "too_large" }));
  });

  /** The bytes of the only span within an export made by the encoder, with their tag. */
  function spanBytes(traces: Buffer): Buffer {
    return traces.subarray(traces.indexOf(Buffer.from(traceId, "hex")) - 4);
  }
});

describe("JSON", () => {
  test.each([
    ["hex of any case", "0AF7651916CD43DD8448EB211C80319C", traceId],
    ["base64", Buffer.from(traceId, "hex").toString("base64"), traceId],
    ["base64 without padding", Buffer.from(traceId, "hex").toString("base64url"), traceId],
    ["zeros", "0".repeat(32), ""],
    ["another length", "abcd", ""],
    ["no hex", "z".repeat(32), ""],
    ["no text", { length: 8e8 }, ""],
  ])("reads an id as %s", (_name, given, read) => {
    expect(fromJson({ traceId: given }).traceId).toBe(read);
  });

  test.each([
    ["NaN", NaN],
    ["Infinity", Infinity],
    ["-Infinity", -Infinity],
  ])("S1: a double that is %s is this text in both encodings, at any place", (text, number) => {
    const attributes = (doubleValue: number | string) => [
      { key: "k", value: { doubleValue } },
      { key: "list", value: { arrayValue: { values: [{ doubleValue }, { doubleValue: 1.5 }] } } },
      { key: "object", value: { kvlistValue: { values: [{ key: "score", value: { doubleValue } }] } } },
    ];
    const json = fromJson({ attributes: attributes(text) });
    const binary = encodeTraces(tracesOf([{ traceId, spanId, attributes: attributes(number) }]));
    for (const span of [json, spansOf(decodeProtobufTraces(binary))[0]!]) {
      expect(plain(span.attributes)).toEqual([
        ["k", text],
        ["list", [text, 1.5]],
        ["object", { score: text }],
      ]);
    }
  });

  test.each([
    [{ intValue: "25" }, 25],
    [{ intValue: 25 }, 25],
    [{ doubleValue: 25 }, 25],
    [{ doubleValue: "1.5" }, 1.5],
    [{ doubleValue: "" }, ""],
    [{ doubleValue: "many" }, "many"],
    [{ doubleValue: null }, null],
    [{ boolValue: "true" }, true],
    [{ stringValue: "" }, ""],
    [{ string_value: "snake" }, "snake"],
    [{ arrayValue: { values: [null, { intValue: 1 }, {}] } }, [null, 1, null]],
    [{ arrayValue: {} }, []],
    [{ kvlistValue: { values: [{ key: "a" }] } }, { a: null }],
    [{ bytesValue: "_-8" }, "/+8="],
    [{ futureValue: 1 }, null],
    [{ stringValue: null }, null],
    [{ stringValue: null, intValue: null }, null],
    [{}, null],
    // Not an AnyValue, but the meaning is obvious.
    [
      ["a", { b: [1] }, { intValue: "2" }],
      ["a", { b: [1] }, 2],
    ],
    [
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
    ],
    [{ arrayValue: { values: [{ role: "user" }] } }, [{ role: "user" }]],
    [
      { kvlistValue: { values: [{ key: "call", value: { id: "1", args: { city: "Oslo" } } }] } },
      { call: { id: "1", args: { city: "Oslo" } } },
    ],
    [null, null],
  ])("reads the value %j", (given, read) => {
    expect(plain(valueOf(given))).toEqual(read);
  });

  test("times are exact as text and as numbers", () => {
    const whole = Buffer.from(
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":1700000000000000001,"endTimeUnixNano":"1700000000000000003"}]}]}]}',
    );
    expect(spansOf(decodeJsonTraces(whole))[0]).toMatchObject({
      startNs: 1_700_000_000_000_000_001n,
      endNs: 1_700_000_000_000_000_003n,
    });
  });

  test("accepts names of enums, snake_case and old names of scopes", () => {
    const old = {
      resource_spans: [
        {
          instrumentation_library_spans: [
            {
              instrumentation_library: { name: "old" },
              spans: [{ span_id: spanId, kind: "SPAN_KIND_CLIENT", status: { code: "STATUS_CODE_ERROR" } }],
            },
          ],
        },
      ],
    };
    const read = decodeJsonTraces(jsonBytes(old));
    expect(read.groups[0]?.scope.name).toBe("old");
    expect(spansOf(read)[0]).toMatchObject({ spanId, kind: 3, status: { code: 2 } });
  });

  test("accepts attributes as an object, and ignores members that are not lists", () => {
    const messages = [{ role: "user", content: "Hi" }];
    const attributes = { plain: "text", wrapped: { intValue: "7" }, messages };
    const item = fromJson({ attributes, events: null, links: "none" });
    expect(plain([...item.attributes])).toEqual([
      ["plain", "text"],
      ["wrapped", 7],
      ["messages", messages],
    ]);
    expect([item.events, item.links]).toEqual([[], []]);
  });

  test("counts items that are not spans", () => {
    const read = decodeJsonTraces(jsonBytes(tracesOf([null, 3, { spanId }])));
    expect(read.malformed).toBe(2);
    expect(spansOf(read)).toHaveLength(1);
  });

  test.each(["[]", "{}", '{"resourceSpans":{}}', '{"resourceLogs":[]}', '{"resourceSpans":[', "3", ""])(
    "refuses %j, which is not an export",
    (body) => {
      expect(() => decodeJsonTraces(Buffer.from(body))).toThrow(expect.objectContaining({ reason: "malformed" }));
    },
  );

  test("any JSON only causes the typed error", () => {
    const anyTraces = fc.record({
      resourceSpans: fc.array(
        fc.record({ scopeSpans: fc.array(fc.record({ spans: fc.jsonValue() })), resource: fc.jsonValue() }),
      ),
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anyTraces), (value) => {
        expect(isOrderly(decodeJsonTraces, jsonBytes(value))).toBe(true);
        expect(isOrderly(decodeJsonLogs, jsonBytes(value))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
