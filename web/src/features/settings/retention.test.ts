import { expect, test } from "vitest";
import { deletesSpans, retentionOf, retentionText } from "./retention.ts";

test.each([null, 0, 1, 90])("a retention of %s days survives a round trip through the form", (days) => {
  const shown = retentionText(days);
  expect(retentionOf(shown.kind, shown.days)).toBe(days);
});

test.each(["", "0", "-1", "1.5", "many", "1e3"])("%j is not a number of days", (days) => {
  expect(retentionOf("days", days)).toBeUndefined();
});

test("a confirmation is required if spans may be deleted, and only then", () => {
  expect([deletesSpans(90, 30), deletesSpans(0, 30), deletesSpans(null, 30)]).toEqual([true, true, true]);
  expect([deletesSpans(30, 90), deletesSpans(30, 0), deletesSpans(30, null), deletesSpans(30, 30)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
