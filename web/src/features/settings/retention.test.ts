import { expect, test } from "vitest";
import { deletesSpans, retentionOf, retentionText } from "./retention.ts";

test.each([null, 0, 1, 90])("a retention of %s days is shown and read as what it is", (days) => {
  const shown = retentionText(days);
  expect(retentionOf(shown.kind, shown.days)).toBe(days);
});

test.each(["", "0", "-1", "1.5", "many", "1e3"])("%j is no number of days", (days) => {
  expect(retentionOf("days", days)).toBeUndefined();
});

test("a person is asked before spans go, and only then", () => {
  expect([deletesSpans(90, 30), deletesSpans(0, 30), deletesSpans(null, 30)]).toEqual([true, true, true]);
  expect([deletesSpans(30, 90), deletesSpans(30, 0), deletesSpans(30, null), deletesSpans(30, 30)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
