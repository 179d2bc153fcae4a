import { expect, test } from "vitest";
import { bucketLabel } from "./bucket-label.ts";

const label = (from: string, to: string, zone: string) => bucketLabel(Date.parse(from), Date.parse(to), zone);

test("a bucket is labelled with its hours or days, in the reader's time zone", () => {
  expect(label("2026-11-29T13:00Z", "2026-11-29T14:00Z", "Europe/Berlin")).toBe("Sun, Nov 29, 14:00 – 15:00");
  expect(label("2026-11-29T23:00Z", "2026-11-30T00:00Z", "UTC")).toBe("Sun, Nov 29, 23:00 – Mon, Nov 30, 00:00");
  expect(label("2026-11-29T00:00Z", "2026-11-30T00:00Z", "UTC")).toBe("Sun, Nov 29");
  expect(label("2026-11-23T00:00Z", "2026-11-30T00:00Z", "UTC")).toBe("Mon, Nov 23 – Sun, Nov 29");
  expect(label("2026-11-29T10:20Z", "2026-11-30T00:00Z", "UTC")).toBe("Sun, Nov 29, 10:20 – Mon, Nov 30, 00:00");
});

test("a day has 23 or 25 hours when clocks change", () => {
  expect(label("2026-03-28T23:00Z", "2026-03-29T22:00Z", "Europe/Berlin")).toBe("Sun, Mar 29");
  expect(label("2026-10-24T22:00Z", "2026-10-25T23:00Z", "Europe/Berlin")).toBe("Sun, Oct 25");
});
