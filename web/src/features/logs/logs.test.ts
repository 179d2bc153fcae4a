import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  chooseWidth,
  columnsWithin,
  fittingColumns,
  findColumn,
  knownColumns,
  membersOf,
  moveColumn,
  placeColumns,
  readColumns,
  readSort,
  writeColumns,
} from "./columns.ts";
import { toBars, zoomTo } from "./histogram-data.ts";
import { addSkipped, createEventReader, withLiveRows, type LiveEvent } from "./live-events.ts";
import { readScore } from "./read-score.ts";
import { cellText, metadataIn, payloadText, scoreIn, type LogRow } from "./row.ts";
import { nextSort } from "./search.ts";
import { extendTo, nothingSelected, toggleAll, toggleRow } from "./selection.ts";

const row = (unique_id: string, fields: Record<string, unknown> = {}): LogRow => ({ unique_id, ...fields });
const idsOf = (rows: readonly { unique_id: string }[]): string[] => rows.map(({ unique_id }) => unique_id);

describe("columns", () => {
  test("columns survive a round trip through the URL, whatever their keys", () => {
    const key = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.trim() === text);
    const id = fc.oneof(
      fc.constantFrom(...knownColumns.map(({ id }) => id)),
      key.map((text) => `metadata.${text}`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 20 }), (ids) => {
        const columns = ids.flatMap((each) => findColumn(each) ?? []);
        expect(readColumns(writeColumns(columns))).toEqual(columns);
      }),
    );
  });

  test("unknown names are dropped, and each column occurs once", () => {
    expect(readColumns("model,nothing,model,metadata.plan").map(({ id }) => id)).toEqual(["model", "metadata.plan"]);
    expect(readColumns("nothing")).toEqual(readColumns(undefined));
  });

  test("a column moves to the position of another", () => {
    const columns = readColumns("timestamp,status,model,cost");
    const moved = (id: string, to: string) => moveColumn(columns, id, to).map((column) => column.id);
    expect(moved("cost", "status")).toEqual(["timestamp", "cost", "status", "model"]);
    expect(moved("timestamp", "cost")).toEqual(["status", "model", "cost", "timestamp"]);
    expect(moved("timestamp", "nothing")).toEqual(["timestamp", "status", "model", "cost"]);
  });

  test("the visible range is always within the drawn columns", () => {
    const columns = Array.from({ length: 100 }, (_, at) => findColumn(`metadata.k${at}`)!);
    const places = placeColumns(columns, { "metadata.k3": 800 });
    fc.assert(
      fc.property(fc.nat(places.total), fc.nat(2000), (left, width) => {
        const { first, end } = columnsWithin(places, left, width);
        const seen = places.lefts.flatMap((start, at) =>
          start < left + width && start + places.widths[at]! > left ? [at] : [],
        );
        expect(seen.filter((at) => at < first || at >= end)).toEqual([]);
      }),
    );
  });

  describe("columns of text", () => {
    const columns = readColumns("timestamp,span_name,model,cost");
    const widthsIn = (available: number, chosen = {}) => placeColumns(columns, chosen, available).widths;

    test("share the free width, up to a bound, unless a width was chosen", () => {
      expect(widthsIn(0)).toEqual([128, 144, 120, 100]);
      expect(widthsIn(492 + 61)).toEqual([128, 174, 150, 100]);
      expect(widthsIn(5000)).toEqual([128, 384, 360, 100]);
      expect(widthsIn(492 + 60, { model: 120, timestamp: 128 })).toEqual([128, 204, 120, 100]);
    });

    test("shrink as far as all columns fit then, unless a width was chosen", () => {
      expect(widthsIn(492 - 68)).toEqual([128, 104, 92, 100]);
      expect(widthsIn(492 - 136)).toEqual([128, 64, 64, 100]);
      expect(widthsIn(492 - 137)).toEqual([128, 144, 120, 100]);
      expect(widthsIn(492 - 40, { model: 120 })).toEqual([128, 104, 120, 100]);
    });

    test("keep their width where a column behind them gets another, which it loses again without one", () => {
      const placed = widthsIn(492 + 60);
      const chosen = chooseWidth(columns, placed, {}, "model", 200);
      expect(widthsIn(492 + 60, chosen)).toEqual([128, 174, 200, 100]);
      expect(widthsIn(5000, chooseWidth(columns, placed, chosen, "model", undefined))).toEqual([128, 174, 360, 100]);
    });
  });

  test.each([
    ["enough", undefined, 828, true],
    ["too little", undefined, 827, false],
    ["the least for the others", undefined, 564, false],
    ["less than that", undefined, 563, true],
    ["too little, but they were chosen", "customer_identifier,cost", 100, true],
  ])("the customer is shown where the room is %s", (_, chosen, available, isShown) => {
    const columns = readColumns(chosen);
    const shown = fittingColumns(columns, {}, available);
    expect(shown).toEqual(isShown ? columns : columns.filter(({ id }) => id !== "customer_identifier"));
    expect(isShown || placeColumns(shown, {}, available).total <= available).toBe(true);
  });

  test("the list requests the members that the columns show", () => {
    const members = membersOf(readColumns("cost,metadata.plan,score.judge")).split(",");
    expect(members).toEqual(expect.arrayContaining(["cost", "unpriced", "metadata", "scores", "failed"]));
    expect(members).not.toContain("input");
  });
});

test("a sort that no column has falls back to the default", () => {
  const valid = ["cost", "-status_code", "-metadata__plan", "scores__judge"];
  expect(valid.map(readSort)).toEqual(valid);
  expect(["nothing", "-input", "--cost", "", "metadata__", undefined].map(readSort)).toEqual(Array(6).fill(undefined));
});

test("a click on a column sorts descending, then ascending, then by the default", () => {
  expect([nextSort(undefined, "cost"), nextSort("-cost", "cost"), nextSort("cost", "cost")]).toEqual([
    "-cost",
    "cost",
    undefined,
  ]);
  expect([nextSort(undefined, "timestamp"), nextSort("timestamp", "timestamp")]).toEqual(["timestamp", undefined]);
});

describe("selection", () => {
  const order = ["a", "b", "c", "d", "e"];
  test("a range starts at the row selected last, in either direction", () => {
    const one = toggleRow(nothingSelected, "c");
    expect([...extendTo(one, "e", order).ids]).toEqual(["c", "d", "e"]);
    expect([...extendTo(one, "a", order).ids].sort()).toEqual(["a", "b", "c"]);
    expect([...extendTo(nothingSelected, "b", order).ids]).toEqual(["b"]);
    expect([...extendTo(toggleRow(nothingSelected, "gone"), "b", order).ids].sort()).toEqual(["b", "gone"]);
  });
  test("all rows are selected, then none", () => {
    const all = toggleAll(toggleRow(nothingSelected, "b"), order);
    expect([...all.ids]).toEqual(order);
    expect(toggleAll(all, order).ids.size).toBe(0);
  });
});

describe("the live tail", () => {
  const stream =
    'id: c1\ndata: {"unique_id":"a","model":"é"}\n\n: 15 s\nid: c2\n\nevent: skipped\ndata: {"count": 3}\n\nid: c3\ndata: {"unique_id":"b"}\n\ndata: no json\n\n';
  const events: LiveEvent[] = [
    { type: "span", row: row("a", { model: "é" }) },
    { type: "skipped", count: 3 },
    { type: "span", row: row("b") },
  ];
  test("parses the same events and cursor, wherever the chunks are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (offsets) => {
        const reader = createEventReader();
        const ends = [...offsets.toSorted((a, b) => a - b), stream.length];
        const read = ends.flatMap((end, at) => reader.read(stream.slice(ends[at - 1] ?? 0, end)));
        expect(read).toEqual(events);
        expect(reader.cursor()).toBe("c3");
      }),
    );
  });
  test("shows each span once, in its newest version, and never more than the maximum", () => {
    const rows = withLiveRows([row("b"), row("a")], [row("c"), row("a", { cost: 1 }), row("d")], 3);
    expect(idsOf(rows)).toEqual(["d", "a", "c"]);
    expect(rows[1]).toEqual(row("a", { cost: 1 }));
  });
  test("reports an unknown number of skipped spans once one number is unknown", () => {
    expect([addSkipped(2, 3), addSkipped(2, null), addSkipped(null, 3)]).toEqual([5, null, null]);
  });
});

describe("the histogram", () => {
  const buckets = ["2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z"];
  const bars = toBars({ buckets, requests: [4, null], errors: [1] }, "2026-11-29T11:30:00Z");
  test("has a bar for each bucket up to the end of the window", () => {
    expect(bars.map(({ startMs, endMs, requests, errors }) => [(endMs - startMs) / 60_000, requests, errors])).toEqual([
      [60, 4, 1],
      [30, 0, 0],
    ]);
  });
  test("has a bar for the instant at which the window ends only if something happened then", () => {
    const end = "2026-11-29T11:00:00Z";
    const barsWith = (requests: (number | null)[]) => toBars({ buckets, requests, errors: [] }, end).length;
    expect([barsWith([4, null]), barsWith([4, 0]), barsWith([4, 1])]).toEqual([1, 1, 2]);
  });
  test("zooms to the dragged range, in either direction, within the window", () => {
    const middle = { from: "2026-11-29T10:30:00.000Z", to: "2026-11-29T11:00:00.000Z" };
    expect(zoomTo(bars, 1 / 3, 2 / 3)).toEqual(middle);
    expect(zoomTo(bars, 2 / 3, 1 / 3)).toEqual(middle);
    expect(zoomTo(bars, -1, 9)).toEqual({ from: "2026-11-29T10:00:00.000Z", to: "2026-11-29T11:30:00.000Z" });
    expect(zoomTo([], 0, 1)).toBeUndefined();
  });
});

describe("cells", () => {
  test("show any value in one line, with invisible characters made visible", () => {
    expect(cellText("a\nb\u202Ec")).toBe("a ↵ b⟨U+202E⟩c");
    expect(cellText({ a: [1] })).toBe('{"a":[1]}');
    expect(cellText(null)).toBe("");
    expect(cellText("x".repeat(1e6)).length).toBeLessThan(400);
  });
  test("show metadata by its key, otherwise by its path", () => {
    const given = row("a", { metadata: { a__b: 1, c: { d: 2 }, e: null } });
    expect(["a__b", "c__d", "e", "toString", "c__toString"].map((key) => metadataIn(given, key))).toEqual([
      1,
      2,
      null,
      undefined,
      undefined,
    ]);
  });
  test("show the last message of a payload", () => {
    expect(
      payloadText('[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"yes"}]}]'),
    ).toBe("yes");
    expect(payloadText("plain")).toBe("plain");
    expect(payloadText("[broken")).toBe("[broken");
    expect(payloadText(null)).toBe("");
  });
  test("show the score of an evaluator by its id or slug", () => {
    const given = row("a", { scores: { id1: { evaluator_slug: "judge", numerical_value: 0, boolean_value: null } } });
    expect([scoreIn(given, "judge"), scoreIn(given, "id1"), scoreIn(given, "other")]).toEqual([0, 0, undefined]);
  });
});

test.each([
  ["boolean", "yes", { boolean_value: true }],
  ["boolean", "maybe", undefined],
  ["numerical", "0", { numerical_value: 0 }],
  ["numerical", "many", undefined],
  ["numerical", " ", undefined],
  ["single_select", "good", { categorical_value: ["good"] }],
  ["multi_select", "a, b", { categorical_value: ["a", "b"] }],
  ["text", " as it is ", { string_value: " as it is " }],
])("a %s score of %j is parsed as %j", (type, text, value) => {
  expect(readScore(type, text)).toEqual(value);
});
