import { storageLimits } from "../../limits.ts";

/** Caches the results of probe queries until any row is inserted or deleted. */
export type ProbeCache = {
  read<T>(key: string, probe: () => Promise<T>): Promise<T>;
  during<T>(write: () => Promise<T>): Promise<T>;
};

export function createProbeCache(): ProbeCache {
  const found = new Map<string, unknown>();
  let begun = 0;
  let underWay = 0;
  return {
    async read<T>(key: string, probe: () => Promise<T>): Promise<T> {
      // The key identifies the probe, and so the type of its result.
      if (found.has(key)) return found.get(key) as T;
      const before = begun;
      const isQuiet = underWay === 0;
      const result = await probe();
      if (isQuiet && before === begun) {
        if (found.size >= storageLimits.cachedProbes) found.clear();
        found.set(key, result);
      }
      return result;
    },
    async during(write) {
      begun += 1;
      underWay += 1;
      found.clear();
      try {
        return await write();
      } finally {
        underWay -= 1;
      }
    },
  };
}
