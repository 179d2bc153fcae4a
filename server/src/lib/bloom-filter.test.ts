import { expect, test } from "vitest";
import { BloomFilter } from "./bloom-filter.ts";

test("added texts are found, others hardly ever", () => {
  const filter = new BloomFilter();
  const name = (n: number) => `org\nprod\n${n.toString(16).padStart(32, "0")}`;
  for (let n = 0; n < 100_000; n += 1) filter.add(name(n));
  const found = Array.from({ length: 200_000 }, (_, n) => filter.has(name(n)));
  expect(found.slice(0, 100_000).every(Boolean)).toBe(true);
  expect(found.slice(100_000).filter(Boolean).length).toBeLessThan(1_000);
});
