import { describe, expect, it } from "vitest";
import { createProbeCache } from "./write-watches.ts";

describe("the result of a probe query", () => {
  it("is cached until rows are written", async () => {
    const memory = createProbeCache();
    let rows = 0;
    const probe = async () => rows;
    expect(await memory.read("a", probe)).toBe(0);
    rows = 1;
    expect([await memory.read("a", probe), await memory.read("b", probe)]).toEqual([0, 1]);
    await memory.during(async () => undefined);
    expect(await memory.read("a", probe)).toBe(1);
  });

  it.each(["begins before the probe", "ends before it", "ends after it"])(
    "is not cached if an insert %s",
    async (when) => {
      const memory = createProbeCache();
      const [insert, probe] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
      const begin = () => memory.during(() => insert.promise);
      const early = when === "begins before the probe" ? begin() : undefined;
      const probed = memory.read("a", () => probe.promise);
      const writing = early ?? begin();
      const order = when === "ends after it" ? [probe, insert] : [insert, probe];
      for (const each of order) {
        each.resolve("old" as never);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await probed).toBe("old");
      await writing;
      expect(await memory.read("a", async () => "new")).toBe("new");
    },
  );

  it("is not cached if the probe failed", async () => {
    const memory = createProbeCache();
    await expect(memory.read("a", () => Promise.reject(new Error("aborted")))).rejects.toThrow("aborted");
    expect(await memory.read("a", async () => "found")).toBe("found");
  });
});
