import { expect, test } from "vitest";
import type { OtlpSpan } from "./export-request.ts";
import { restoreParents } from "./accept-traces.ts";

type Given = { name: string; kind?: string; path?: string; fromMs: number; toMs: number };

/** `child<parent` for each span that found one. */
function restored(...given: Given[]): string[] {
  const spans = given.map(({ name, kind = "task", path = "", fromMs, toMs }): OtlpSpan => ({
    traceId: "a".repeat(32),
    spanId: name,
    parentSpanId: "",
    traceState: "",
    name,
    kind: 1,
    startNs: BigInt(Math.round(fromMs * 1e6)),
    endNs: BigInt(Math.round(toMs * 1e6)),
    attributes: new Map([
      ["traceloop.span.kind", kind],
      ["traceloop.entity.name", name],
      ["traceloop.entity.path", path],
    ]),
    droppedAttributes: 0,
    events: [],
    links: [],
    status: { code: 0, message: "" },
  }));
  const scope = { name: "@keywordsai/tracing", version: "", attributes: new Map() };
  restoreParents(spans.map((span) => ({ span, scope })));
  return spans.filter(({ parentSpanId }) => parentSpanId !== "").map((span) => `${span.spanId}<${span.parentSpanId}`);
}

test("the innermost span that ran the whole time is the parent", () => {
  expect(
    restored(
      { name: "inner", fromMs: 3, toMs: 4 },
      { name: "outer", fromMs: 0, toMs: 10 },
      { name: "middle", fromMs: 2, toMs: 9 },
    ),
  ).toEqual(["inner<middle", "middle<outer"]);
});

test("the span that the path names is the parent, even if it seems to end earlier", () => {
  expect(
    restored(
      { name: "agent", fromMs: 0, toMs: 10 },
      { name: "other", fromMs: 1, toMs: 12 },
      { name: "tool", path: "flow.agent", fromMs: 2, toMs: 11 },
    ),
  ).toEqual(["tool<agent"]);
});

test.each([0, 0.4, 0.999])("a parent may seem to end %d ms before its child, whose start was rounded", (earlyMs) => {
  const agent = { name: "agent", path: "agent", fromMs: 1, toMs: 60 };
  expect(restored({ name: "flow", fromMs: 0, toMs: 60 - earlyMs }, agent)).toEqual(["agent<flow"]);
});

test("spans that follow each other within a rounded millisecond are not parents of each other", () => {
  expect(restored({ name: "first", fromMs: 0, toMs: 10.05 }, { name: "second", fromMs: 10, toMs: 10.7 })).toEqual([]);
  expect(restored({ name: "first", fromMs: 0, toMs: 10.5 }, { name: "second", fromMs: 10, toMs: 40 })).toEqual([]);
});
