import { expect, test } from "vitest";
import { effectiveRetentionDays } from "./organization.ts";

test.each([
  [null, 0, null],
  [null, 30, 30],
  [7, 30, 7],
  [7, 0, 7],
  [0, 30, null],
])("an organization with %s in an instance with %s keeps spans for %s days", (own, instance, expected) => {
  expect(effectiveRetentionDays({ retention_days: own }, instance)).toBe(expected);
});
