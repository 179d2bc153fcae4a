import { describe, expect, it } from "vitest";
import { createLookMemory } from "./look-memory.ts";

describe("the result of a probe query", () => {
  it("is cached until rows are written", async () => {
    const memory = createLookMemory();
    let rows = 0;
    const look = async () => rows;
    expect(await memory.read("a", look)).toBe(0);
    rows = 1;
    expect([await memory.read("a", look), await memory.read("b", look)]).toEqual([0, 1]);
    await memory.during(async () => undefined);
    expect(await memory.read("a", look)).toBe(1);
  });

  it.each(["begins before the probe", "ends before it", "ends after it"])(
    "is not cached if an insert %s",
    async (when) => {
      const memory = createLookMemory();
      const [insert, look] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
      const begin = () => memory.during(() => insert.promise);
      const early = when === "begins before the probe" ? begin() : undefined;
      const looked = memory.read("a", () => look.promise);
      const writing = early ?? begin();
      const order = when === "ends after it" ? [look, insert] : [insert, look];
      for (const each of order) {
        each.resolve("old" as never);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await looked).toBe("old");
      await writing;
      expect(await memory.read("a", async () => "new")).toBe("new");
    },
  );

  it("is not cached if the probe failed", async () => {
    const memory = createLookMemory();
    await expect(memory.read("a", () => Promise.reject(new Error("aborted")))).rejects.toThrow("aborted");
    expect(await memory.read("a", async () => "found")).toBe("found");
  });
});
