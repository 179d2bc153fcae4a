import fc from "fast-check";
import { expect, test } from "vitest";
import { ExpiringLru } from "./expiring-lru.ts";

function newMap(maxEntries: number, ttlMs: number) {
  const clock = { ms: 0 };
  return { clock, map: new ExpiringLru<string, number>({ maxEntries, ttlMs, nowMs: () => clock.ms }) };
}

test("the least recently used entry is evicted", () => {
  const { map } = newMap(2, 100);
  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
});

test("a recently used entry stays, and one entry is evicted even if all were used", () => {
  const { map } = newMap(100, 100);
  map.set("used", 0);
  for (let i = 1; i < 1_000; i += 1) {
    expect(map.get("used")).toBe(0);
    map.set(`other ${i}`, i);
  }
  for (let i = 0; i < 1_000; i += 1) map.get(`other ${i}`);
  map.set("last", 1_000);
  expect([map.size, map.get("last")]).toEqual([100, 1_000]);
});

test("adding an entry to a full, large map is not slower", () => {
  const maxEntries = 100_000;
  const { map } = newMap(maxEntries, 100);
  const msOf = (from: number, count: number): number => {
    const startedMs = performance.now();
    for (let i = from; i < from + count; i += 1) map.set(`entry ${i}`, i);
    return performance.now() - startedMs;
  };
  const fillMs = msOf(0, maxEntries);
  expect(msOf(maxEntries, maxEntries)).toBeLessThan(20 * fillMs);
  expect([map.size, map.get(`entry ${maxEntries - 1}`), map.get(`entry ${maxEntries}`)]).toEqual([
    maxEntries,
    undefined,
    maxEntries,
  ]);
});

test("an entry's age counts from when it was set, not from its last use", () => {
  const { clock, map } = newMap(2, 100);
  map.set("a", 1);
  clock.ms = 99;
  expect(map.get("a")).toBe(1);
  clock.ms = 100;
  expect(map.get("a")).toBeUndefined();
  expect(map.size).toBe(0);
});

test("an entry may expire earlier than the others, never later", () => {
  const { clock, map } = newMap(2, 100);
  map.set("short", 1, 10);
  map.set("long", 2, 1000);
  clock.ms = 10;
  expect([map.get("short"), map.get("long")]).toEqual([undefined, 2]);
  clock.ms = 100;
  expect(map.get("long")).toBeUndefined();
});

test("never holds more than its bound, and returns only the last value set", () => {
  const keys = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.tuple(fc.constantFrom("set", "get", "delete"), keys, fc.nat());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { map } = newMap(3, 100);
      const model = new Map<string, number>();
      for (const [action, key, value] of steps) {
        if (action === "set") {
          map.set(key, value);
          model.set(key, value);
        } else if (action === "delete") {
          map.delete(key);
          model.delete(key);
        }
        expect([undefined, model.get(key)]).toContain(map.get(key));
        expect(map.size).toBeLessThanOrEqual(3);
      }
    }),
  );
});
