import { expect, test } from "vitest";
import { parseTimeNs } from "../../../lib/time.ts";
import { timeRangeWhere, windowWhere } from "./selection.ts";

const ns = (time: string): bigint => parseTimeNs(time) ?? 0n;

test.each([
  ["2026-05-05 00:00:00", "2026-05-05 23:59:59.999999999", true],
  ["2026-05-05 23:59:59.999999999", "2026-05-06 00:00:00", false],
  ["2026-05-05 05:00:00", "2026-06-05 05:00:00", false],
  ["1969-12-31 23:59:59.999999999", "1969-12-31 23:59:59.999999999", true],
  ["1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00", false],
])("the window from %s to %s names one day to the index: %s", (first, last, isOneDay) => {
  for (const { sql } of [windowWhere({ fromNs: ns(first), toNs: ns(last) }), timeRangeWhere(first, last)])
    expect(sql.startsWith("indexHint(toDate32(timestamp) = ")).toBe(isOneDay);
});

test("a window without bounds names the days between the first and the last stored time", () => {
  const { sql } = windowWhere({ fromNs: -(2n ** 80n), toNs: 2n ** 80n });
  expect(sql).toContain("indexHint(toDate32(timestamp) >= ");
});
